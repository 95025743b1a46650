#include "fairlead/fabric/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "fairlead/base/numbers.h"
#include "fairlead/base/prng.h"

namespace fairlead::fabric {
namespace {

constexpr const char* kHelp =
    "valid: drop=P, dup=P, corrupt=P, reorder=P (P from 0 to 1, or like 1%), delay=TIME:P, "
    "kill=RANK@TIME "
    "(TIME like 50us, 3ms, 1s); of one link: link=LINK:KEY=P (KEY one of the first four), "
    "link=LINK:delay=TIME:P, down=LINK@TIME+TIME (LINK a node, FROM-TO, or on modelled networks a "
    "cable like leaf0-spine1); separated by commas";

Error wrong(std::string_view part, const char* why) {
  return Error{fmt::format("faults: '{}': {}; {}", part, why, kHelp)};
}

// "0.01" or "1%".
std::optional<double> probability(std::string_view text) {
  if (!text.ends_with('%')) return real_number(text, {0, 1});
  const std::optional<double> percent = real_number(text.substr(0, text.size() - 1), {0, 100});
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

// Up to a day: what is longer is a mistake.
std::optional<Ps> time_of(std::string_view text) { return time_number(text, seconds(86400)); }

std::optional<FaultPlan::Kill> kill_of(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<Rank> rank = whole_number<Rank>(text.substr(0, at));
  const std::optional<Ps> when = time_of(text.substr(at + 1));
  if (!rank || !when) return std::nullopt;
  return FaultPlan::Kill{*rank, *when};
}

std::optional<Peer> endpoint(std::string_view text) { return whole_number<Peer>(text); }

// An endpoint's number, or a switch's name.
bool names_an_end(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto good = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return endpoint(text) ||
         (!text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), good));
}

std::optional<FaultyLink> link_of(std::string_view text) {
  FaultyLink link;
  link.text = std::string(text);
  const std::size_t dash = text.find('-');
  const std::string_view a = text.substr(0, dash);
  if (dash == std::string_view::npos) {
    const std::optional<Peer> node = endpoint(a);
    if (!node) return std::nullopt;
    link.from = *node;
    return link;
  }
  const std::string_view b = text.substr(dash + 1);
  if (!names_an_end(a) || !names_an_end(b)) return std::nullopt;
  const std::optional<Peer> from = endpoint(a);
  const std::optional<Peer> to = endpoint(b);
  if (from && to) {
    link.kind = FaultyLink::Kind::way;
    link.from = *from;
    link.to = *to;
  } else {
    link.kind = FaultyLink::Kind::cable;
    link.a = std::string(a);
    link.b = std::string(b);
  }
  return link;
}

// "drop=0.1" and the like. `part` is shown in errors.
Result<void> parse_packet_fault(std::string_view key, std::string_view value, std::string_view part,
                                PacketFaults& faults) {
  double* chance = key == "drop"      ? &faults.drop
                   : key == "dup"     ? &faults.duplicate
                   : key == "corrupt" ? &faults.corrupt
                   : key == "reorder" ? &faults.reorder
                                      : nullptr;
  if (chance != nullptr) {
    const std::optional<double> p = probability(value);
    if (!p) return wrong(part, "not a probability");
    *chance = *p;
    return {};
  }
  if (key != "delay") return wrong(part, "unknown key");
  const std::size_t colon = value.find(':');
  const std::optional<Ps> length = time_of(value.substr(0, colon));
  const std::optional<double> p =
      colon == std::string_view::npos ? std::nullopt : probability(value.substr(colon + 1));
  if (!length || !p) return wrong(part, "not TIME:PROBABILITY");
  faults.delay = *length;
  faults.delayed = *p;
  return {};
}

// "3-7:drop=0.01".
Result<void> parse_link(std::string_view value, std::string_view part, FaultPlan::Clause& clause) {
  const std::size_t colon = value.find(':');
  const std::size_t equals = value.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) {
    return wrong(part, "not LINK:KEY=VALUE");
  }
  const std::optional<FaultyLink> link = link_of(value.substr(0, colon));
  if (!link) return wrong(part, "no such link");
  clause.link = *link;
  return parse_packet_fault(value.substr(colon + 1, equals - colon - 1), value.substr(equals + 1),
                            part, clause.faults);
}

// "5@10ms+2ms".
Result<void> parse_down(std::string_view value, std::string_view part, FaultPlan::Clause& clause) {
  const std::size_t at = value.find('@');
  const std::size_t plus = value.find('+');
  if (at == std::string_view::npos || plus == std::string_view::npos || plus < at) {
    return wrong(part, "not LINK@TIME+TIME");
  }
  const std::optional<FaultyLink> link = link_of(value.substr(0, at));
  if (!link) return wrong(part, "no such link");
  const std::optional<Ps> from = time_of(value.substr(at + 1, plus - at - 1));
  const std::optional<Ps> length = time_of(value.substr(plus + 1));
  if (!from || !length) return wrong(part, "not LINK@TIME+TIME");
  clause.link = *link;
  clause.down_from = *from;
  clause.down_until = *from + *length;
  return {};
}

Result<void> parse_part(std::string_view part, FaultPlan& plan) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return wrong(part, "no '='");
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = part.substr(equals + 1);
  if (key == "kill") {
    const std::optional<FaultPlan::Kill> kill = kill_of(value);
    if (!kill) return wrong(part, "not RANK@TIME");
    plan.kills.push_back(*kill);
    return {};
  }
  if (key != "link" && key != "down") return parse_packet_fault(key, value, part, plan);
  if (plan.clauses.size() == FaultPlan::kClausesMax) return wrong(part, "more than 64 links");
  FaultPlan::Clause clause;
  const Result<void> parsed =
      key == "link" ? parse_link(value, part, clause) : parse_down(value, part, clause);
  if (parsed.ok()) plan.clauses.push_back(std::move(clause));
  return parsed;
}

// Adds what `faults` do to the packet that `draw` is for.
void add_fate(const PacketFaults& faults, Prng& draw, Fate& fate) {
  fate.drop |= draw.chance(faults.drop);
  fate.duplicate |= draw.chance(faults.duplicate);
  fate.corrupt |= draw.chance(faults.corrupt);
  fate.reorder |= draw.chance(faults.reorder);
  if (draw.chance(faults.delayed)) fate.delay = std::max(fate.delay, faults.delay);
}

}  // namespace

Result<FaultPlan> parse_fault_plan(std::string_view text, std::uint64_t seed) {
  FaultPlan plan;
  plan.seed = seed;
  plan.text = std::string(text);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const Result<void> parsed = parse_part(text.substr(0, comma), plan);
    if (!parsed.ok()) return parsed.error();
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return wrong(plan.text, "ends with a comma");
  }
  return plan;
}

std::string repeat_line(const FaultPlan& plan) {
  return fmt::format("--faults {} --seed {}", plan.text, plan.seed);
}

ClauseMask clauses_of(const FaultPlan& plan, Peer source, Peer dest) {
  ClauseMask mask = 0;
  for (std::size_t i = 0; i < plan.clauses.size(); ++i) {
    const FaultyLink& link = plan.clauses[i].link;
    const bool node = link.kind == FaultyLink::Kind::node;
    const bool way = link.kind == FaultyLink::Kind::way;
    if ((node && (link.from == source || link.from == dest)) ||
        (way && link.from == source && link.to == dest)) {
      mask |= ClauseMask{1} << i;
    }
  }
  return mask;
}

Fate fate_of(const FaultPlan& plan, Peer source, Peer dest, std::uint64_t count, ClauseMask clauses,
             Ps now) {
  Prng mix(plan.seed);
  const std::uint64_t pair = (std::uint64_t{source} << 32 | dest) * 0x9e3779b97f4a7c15u;
  const std::uint64_t packet = mix.next() ^ Prng(pair ^ (count * 0xd1342543de82ef95u)).next();
  Prng draw(packet);
  Fate fate;
  add_fate(plan, draw, fate);
  fate.bit = draw.next();
  for (; clauses != 0; clauses &= clauses - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(clauses));
    const FaultPlan::Clause& clause = plan.clauses[i];
    fate.drop |= now >= clause.down_from && now < clause.down_until;
    Prng own(packet ^ Prng(i + 1).next());
    add_fate(clause.faults, own, fate);
  }
  return fate;
}

Result<void> check_kills(const FaultPlan& plan, std::uint32_t ranks) {
  for (const FaultPlan::Kill& kill : plan.kills) {
    if (kill.rank < ranks) continue;
    return Error{fmt::format("faults: kill={}: the job has ranks 0 to {}", kill.rank, ranks - 1)};
  }
  return {};
}

Result<void> check_links(const FaultPlan& plan, std::uint32_t endpoints, bool cables) {
  for (const FaultPlan::Clause& clause : plan.clauses) {
    const FaultyLink& link = clause.link;
    if (link.kind == FaultyLink::Kind::cable) {
      if (cables) continue;
      return Error{
          fmt::format("faults: link={}: there are no switches here, only on modelled platforms; a "
                      "link is a rank, or FROM-TO",
                      link.text)};
    }
    if (link.from >= endpoints || link.to >= endpoints) {
      return Error{
          fmt::format("faults: link={}: there are only 0 to {}", link.text, endpoints - 1)};
    }
  }
  return {};
}

}  // namespace fairlead::fabric
