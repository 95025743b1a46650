#include "tools/fairlead/comparison.h"

#include <fmt/format.h>

#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

// What costs time when there is more of it, the surest sign first.
constexpr const char* kCosts[] = {"retransmissions",      "credit_stalls", "buffer_stalls",
                                  "interrupts",           "copied_out",    "sleeps",
                                  "multicasts_forwarded", "acks_sent",     "packets_sent"};

// The fastest of `like`'s world, at least `like` itself: wall time and virtual time do not compare.
const Outcome& best_of(const std::vector<Outcome>& outcomes, const Outcome& like, bool same_place) {
  const Outcome* best = &like;
  for (const Outcome& one : outcomes) {
    if (!one.reason.empty() || one.modelled != like.modelled) continue;
    if (same_place && one.combination.on != like.combination.on) continue;
    if (one.seconds < best->seconds) best = &one;
  }
  return *best;
}

double ratio_of(const Outcome& outcome, const std::vector<Outcome>& outcomes) {
  const Outcome& best = best_of(outcomes, outcome, false);
  return best.seconds <= 0 ? 1 : outcome.seconds / best.seconds;
}

}  // namespace

std::uint64_t Outcome::counter(const std::string& name) const {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

void read_statistics(const std::string& text, Outcome& outcome) {
  const Result<Json> read = Json::parse(text);
  const auto wall_s = read.ok() ? number_at(read.value(), "wall_s") : std::nullopt;
  if (!wall_s || part_at(read.value(), "counters").members().empty()) {
    outcome.reason = "the run left no statistics";
    return;
  }
  outcome.seconds = *wall_s;
  if (const auto us = number_at(read.value(), "virtual_time_us")) {
    outcome.modelled = true;
    outcome.seconds = *us / 1e6;
  }
  for (const auto& [name, value] : part_at(read.value(), "counters").members()) {
    if (value.is_unsigned()) outcome.counters[name] = value.whole();
  }
}

std::string explanation(const Outcome& outcome, const std::vector<Outcome>& outcomes) {
  const Outcome& best = best_of(outcomes, outcome, true);
  if (&best == &outcome) {
    const bool everywhere = &best_of(outcomes, outcome, false) == &outcome;
    return everywhere ? "best" : "best on " + outcome.combination.on;
  }
  if (outcome.seconds < 1.01 * best.seconds) return "as fast as the best there";
  const double messages = static_cast<double>(best.messages()) + 1;
  const char* most = nullptr;
  double most_rise = 0.05;  // less than one in twenty messages explains nothing
  for (const char* name : kCosts) {
    const double rise =
        (static_cast<double>(outcome.counter(name)) - static_cast<double>(best.counter(name))) /
        messages;
    if (rise > most_rise) {
      most = name;
      most_rise = rise;
    }
  }
  if (most == nullptr) return "as much traffic, more time a message";
  return fmt::format("{} {} instead of {}", most, outcome.counter(most), best.counter(most));
}

std::string comparison_table(const std::vector<Outcome>& outcomes) {
  Table table({"on", "lci", "time s", "ratio", "messages", "bytes", "acks", "stalls", "why"});
  for (const Outcome& one : outcomes) {
    const std::string lci = implementation_used(one.combination.on, one.combination.lci);
    if (!one.reason.empty()) {
      table.add({one.combination.on, lci, "-", "-", "-", "-", "-", "-", one.reason});
      continue;
    }
    table.add({one.combination.on, lci, show_number(one.seconds),
               fmt::format("{:.2f}", ratio_of(one, outcomes)), fmt::format("{}", one.messages()),
               fmt::format("{}", one.counter("bytes_sent")),
               fmt::format("{}", one.counter("acks_sent")), fmt::format("{}", one.stalls()),
               explanation(one, outcomes)});
  }
  return table.text();
}

std::string comparison_json(const std::vector<Outcome>& outcomes, std::uint32_t ranks) {
  std::string text;
  for (const Outcome& one : outcomes) {
    Json line = {{"on", one.combination.on},
                 {"lci", implementation_used(one.combination.on, one.combination.lci)},
                 {"ranks", ranks}};
    if (one.reason.empty()) {
      line["seconds"] = one.seconds;
      line["modelled"] = one.modelled;
      line["ratio"] = ratio_of(one, outcomes);
      line["messages"] = one.messages();
      line["bytes"] = one.counter("bytes_sent");
      line["acks"] = one.counter("acks_sent");
      line["stalls"] = one.stalls();
      line["why"] = explanation(one, outcomes);
      line["counters"] = Json::object();
      for (const auto& [name, value] : one.counters) line["counters"][name] = value;
    } else {
      line["error"] = one.reason;
    }
    line["commit"] = kCommit;
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace fairlead::tools
