// How a LineNetwork's links die and live again: what is lost, who hears of it and when.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fairlead/base/numbers.h"
#include "fairlead/fabric/model/firelink/line_network.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {
namespace {

// "link3" with the prefix "link": 3.
std::optional<std::uint32_t> number_after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return whole_number<std::uint32_t>(std::string_view(text).substr(prefix.size()));
}

}  // namespace

void LineNetwork::lose(std::uint32_t id) {
  ++lost_;
  const Peer node = node_of(run(id).source);
  at<&LineNetwork::on_lost>(now() + parts_.ni.found, node, hw::kNiTimerEvent, id);
}

// The lines' time is over at the source's interface.
void LineNetwork::on_lost(std::uint32_t id) {
  LineRun& over = run(id);
  // Another job does without what it lost.
  if (over.order.kind == RunKind::other) return on_background_completed(id);
  Own& own = of(over.source);
  if (over.order.kind == RunKind::load) {
    const bool cut = states_.routed(node_of(over.source), node_of(over.order.dest)).empty();
    over.end = cut ? LoadEnd::cut_off : LoadEnd::lost;
    return own.host.loaded(own.host.context);
  }
  if (over.order.kind == RunKind::put && over.order.raw != 0) {
    own.puts[over.order.operation].lost = true;
    return on_stored(id);
  }
  over.lost = true;
  const std::uint8_t whole = states_.whole(node_of(over.source), node_of(over.order.dest)) ? 1 : 0;
  const std::uint32_t lines = over.lines;
  const Rank source = over.source;
  tell(source, {FirelinkNews::What::lost, whole, 0, over.order.dest, id, 0});
  lines_back(source, lines);
}

std::string LineNetwork::losses() const {
  return lost_ == 0 ? "" : fmt::format("links that died lost {} runs of lines", lost_);
}

Result<std::vector<LineNetwork::Outage>> LineNetwork::outages_of(
    const FaultPlan::Clause& clause) const {
  const FaultyLink& link = clause.link;
  const auto wrong = [&](const std::string& why) {
    return Error{
        fmt::format("--faults: down={}: {}; valid: a node (0 to {}), one of its links "
                    "(0-link0 to {}-link{}), of its interfaces (0-ni0){}",
                    link.text, why, wiring_.nodes() - 1, wiring_.nodes() - 1, wiring_.links() - 1,
                    wiring_.switched() ? ", or its link to a switch (0-switch0)" : "")};
  };
  std::optional<std::uint32_t> host;
  std::vector<Outage> all;
  if (link.kind == FaultyLink::Kind::way) return wrong("several links lead from node to node");
  if (link.kind == FaultyLink::Kind::node) host = link.from;
  if (link.kind == FaultyLink::Kind::cable) host = whole_number<std::uint32_t>(link.a);
  if (!host || *host >= wiring_.nodes()) return wrong("there is no such node");
  for (std::uint32_t each = 0; each < wiring_.links(); ++each) {
    const bool named =
        link.kind == FaultyLink::Kind::node || number_after(link.b, "link") == each ||
        number_after(link.b, "ni") == ni_of(each) ||
        (wiring_.switched() && number_after(link.b, "switch") == each % parts_.ni.switches);
    if (named) all.push_back({*host, each});
  }
  if (all.empty()) return wrong("it has no such link");
  return all;
}

Result<void> LineNetwork::set_faults(const FaultPlan& plan) {
  if (plan.any()) {
    return Error{
        "--faults: links of this kind lose what is on them when they die, and nothing else; valid: "
        "down=NODE-linkN@TIME+TIME"};
  }
  for (const FaultPlan::Clause& clause : plan.clauses) {
    if (clause.faults.any() || clause.down_from == kNever) {
      return Error{
          fmt::format("--faults: link={}: links of this kind die and live again; valid: "
                      "down={}@TIME+TIME",
                      clause.link.text, clause.link.text)};
    }
    const Result<std::vector<Outage>> named = outages_of(clause);
    if (!named.ok()) return named.error();
    for (const Outage& each : named.value()) {
      const std::uint64_t number = outages_.size();
      outages_.push_back(each);
      parts_.engine.at(clause.down_from, each.host, hw::kNiTimerEvent, &LineNetwork::on_fail, this,
                       number);
      parts_.engine.at(clause.down_until, each.host, hw::kNiTimerEvent, &LineNetwork::on_mend, this,
                       number);
    }
  }
  return {};
}

void LineNetwork::on_fail(void* self, std::uint64_t outage, std::uint64_t) {
  auto* network = static_cast<LineNetwork*>(self);
  const Outage& which = network->outages_[outage];
  network->states_.fail(which.host, which.link);
  network->plan_look(outage);
}

void LineNetwork::on_mend(void* self, std::uint64_t outage, std::uint64_t) {
  auto* network = static_cast<LineNetwork*>(self);
  const Outage& which = network->outages_[outage];
  network->states_.mend(which.host, which.link);
  network->plan_look(outage);
}

void LineNetwork::plan_look(std::uint64_t outage) {
  parts_.engine.at(now() + parts_.ni.found + parts_.ni.reroute, outages_[outage].host,
                   hw::kNiTimerEvent, &LineNetwork::on_look, this, outage);
}

void LineNetwork::on_look(void* self, std::uint64_t outage, std::uint64_t) {
  auto* network = static_cast<LineNetwork*>(self);
  network->look(network->outages_[outage]);
}

void LineNetwork::look(const Outage& which) {
  const bool changed = states_.look(which.host, which.link);
  for (Peer other = 0; other < wiring_.nodes(); ++other) {
    if (other == which.host) continue;
    if (!wiring_.switched() && wiring_.other_end(which.host, which.link).host != other) continue;
    if (states_.routed(which.host, other).empty()) {
      tell_pair(which.host, other, FirelinkNews::What::cut_off, which);
    } else if (!changed) {
      tell_pair(which.host, other, FirelinkNews::What::way_looked, which);
    } else {
      tell_pair(which.host, other,
                states_.up(which.host, which.link) ? FirelinkNews::What::way_back
                                                   : FirelinkNews::What::way_lost,
                which);
    }
  }
}

void LineNetwork::tell_pair(Peer node, Peer other, FirelinkNews::What what, const Outage& link) {
  const auto to_ranks_on = [&](Peer here, Peer peer) {
    for (std::uint32_t place = 0; place < parts_.ranks.ranks_on(here); ++place) {
      tell(parts_.ranks.rank_at(here, place), {what, 1, 0, peer, link.link, link.host, now()});
    }
  };
  to_ranks_on(node, other);
  to_ranks_on(other, node);
}

}  // namespace fairlead::fabric::model
