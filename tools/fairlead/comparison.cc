#include "tools/fairlead/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "fairlead/base/counters.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

namespace {

// What costs time when there is more of it, the surest sign first.
constexpr const char* kCosts[] = {"retransmissions",      "credit_stalls", "buffer_stalls",
                                  "interrupts",           "copied_out",    "sleeps",
                                  "multicasts_forwarded", "acks_sent",     "packets_sent"};
constexpr double kAsFast = 1.01;

// The fastest of `like`'s world, the first of several; `like` is one of `outcomes`. Wall time and
// virtual time do not compare.
const Outcome& best_of(const std::vector<Outcome>& outcomes, const Outcome& like, bool same_place) {
  const Outcome* best = nullptr;
  for (const Outcome& one : outcomes) {
    if (!one.reason.empty() || one.modelled != like.modelled) continue;
    if (same_place && one.combination.on != like.combination.on) continue;
    if (best == nullptr || one.seconds < best->seconds) best = &one;
  }
  return best == nullptr ? like : *best;
}

double ratio_of(const Outcome& outcome, const std::vector<Outcome>& outcomes) {
  const Outcome& best = best_of(outcomes, outcome, false);
  return best.seconds <= 0 ? 1 : outcome.seconds / best.seconds;
}

bool equal(const Outcome& a, const Outcome& b) {
  return a.modelled && b.modelled && a.reason.empty() && b.reason.empty() &&
         a.combination.on == b.combination.on && a.seconds == b.seconds && a.counters == b.counters;
}

double percent(double part, double whole) { return whole <= 0 ? 0 : part / whole * 100; }

const PathPart* largest(const Outcome& outcome) {
  const auto found =
      std::max_element(outcome.path.begin(), outcome.path.end(),
                       [](const PathPart& a, const PathPart& b) { return a.us < b.us; });
  return found == outcome.path.end() || found->us <= 0 ? nullptr : &*found;
}

// The one whose doubled speed saves most.
const PathPart* most_saving(const Outcome& outcome) {
  const PathPart* most = nullptr;
  for (const PathPart& part : outcome.path) {
    if (!part.twice_us) continue;
    if (most == nullptr || *part.twice_us < *most->twice_us) most = &part;
  }
  return most;
}

// "NI processor 34 % of the critical path; twice as fast: -19 %".
std::string limit_text(const Outcome& outcome) {
  const PathPart* const most = largest(outcome);
  if (most == nullptr) return "took no virtual time";
  const double whole_us = outcome.seconds * 1e6;
  std::string text =
      fmt::format("{} {:.0f} % of the critical path", most->title, percent(most->us, whole_us));
  const PathPart* const helps = most_saving(outcome);
  if (helps == nullptr) return text;
  const double saved = percent(whole_us - *helps->twice_us, whole_us);
  return text + fmt::format("; {}twice as fast: {:+.1f} %",
                            helps == most ? std::string() : helps->title + " ", -saved);
}

// Where the path grew most against another run: "+12.3 us of NI processor over pio".
std::string growth_text(const Outcome& outcome, const Outcome& best) {
  const PathPart* most = nullptr;
  double most_us = 0;
  for (const PathPart& part : outcome.path) {
    const auto there = std::find_if(best.path.begin(), best.path.end(), [&](const PathPart& other) {
      return other.resource == part.resource;
    });
    const double us = part.us - (there == best.path.end() ? 0 : there->us);
    if (us <= most_us) continue;
    most_us = us;
    most = &part;
  }
  if (most == nullptr) return "";
  return fmt::format("+{} of {} over {}", time_text(most_us * 1e-6), most->title, best.name());
}

// The counter that moved most against another run; empty: none did by much.
std::string counter_text(const Outcome& outcome, const Outcome& best) {
  const double packets = static_cast<double>(best.packets()) + 1;
  const char* most = nullptr;
  double most_rise = 0.05;  // less than one in twenty packets explains nothing
  for (const char* name : kCosts) {
    const double rise =
        (static_cast<double>(outcome.counter(name)) - static_cast<double>(best.counter(name))) /
        packets;
    if (rise > most_rise) {
      most = name;
      most_rise = rise;
    }
  }
  if (most == nullptr) return "";
  return fmt::format("{} {} instead of {}", most, outcome.counter(most), best.counter(most));
}

std::string real_explanation(const Outcome& outcome, const Outcome& best) {
  const std::string counter = counter_text(outcome, best);
  if (!counter.empty()) return counter;
  const auto a_packet = [](const Outcome& one) {
    return time_text(one.seconds / std::max(1.0, static_cast<double>(one.packets())));
  };
  return fmt::format("as much traffic; {} of wall time a packet instead of {}", a_packet(outcome),
                     a_packet(best));
}

std::string modelled_explanation(const Outcome& outcome, const Outcome& best) {
  std::string text = growth_text(outcome, best);
  const std::string counter = counter_text(outcome, best);
  if (!counter.empty()) text += (text.empty() ? "" : "; ") + counter;
  return text + (text.empty() ? "" : "; ") + limit_text(outcome);
}

// Those of a world, equal ones together, the fastest first and those without figures last.
std::vector<std::vector<const Outcome*>> rows_of(const std::vector<Outcome>& outcomes,
                                                 bool modelled) {
  std::vector<std::vector<const Outcome*>> rows;
  for (const Outcome& one : outcomes) {
    if (one.modelled != modelled) continue;
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const auto& row) { return equal(*row.front(), one); });
    if (same != rows.end()) {
      same->push_back(&one);
    } else {
      rows.push_back({&one});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.front()->reason.empty(), a.front()->seconds) <
           std::pair(!b.front()->reason.empty(), b.front()->seconds);
  });
  return rows;
}

std::string names_of(const std::vector<const Outcome*>& row) {
  std::string names;
  for (const Outcome* one : row) {
    names += (names.empty() ? "" : " = ") + one->name();
    if (one->combination.is_default) names += " (default)";
  }
  return names;
}

// How far the runs of one row lie apart, of the shortest.
double spread_percent(const Outcome& one) {
  if (one.repeats.empty()) return 0;
  const auto [least, most] = std::minmax_element(one.repeats.begin(), one.repeats.end());
  const double shortest = std::min(*least, one.seconds);
  return percent(std::max(*most, one.seconds) - shortest, shortest);
}

void add_inside(const Outcome& one, std::vector<std::string>& cells) {
  if (!one.inside) {
    cells.resize(cells.size() + 4, "-");
    return;
  }
  cells.push_back(show_number(one.inside->host_us));
  cells.push_back(fmt::format("{:.0f}", one.inside->waited_percent));
  cells.push_back(one.inside->link.empty()
                      ? "-"
                      : fmt::format("{:.0f} %, {}", one.inside->link_percent, one.inside->link));
  cells.push_back(show_number(one.inside->p99_us));
}

std::vector<std::string> headings_of(const std::vector<Outcome>& outcomes, bool modelled) {
  std::vector<std::string> headings = {"on", "lci", modelled ? "virtual time" : "wall time"};
  const bool repeated = std::any_of(outcomes.begin(), outcomes.end(),
                                    [](const Outcome& one) { return !one.repeats.empty(); });
  if (repeated) headings.emplace_back("spread %");
  for (const char* const heading :
       {"ratio", "messages", "packets", "bytes", "acks", "resent", "stalls"}) {
    headings.emplace_back(heading);
  }
  if (modelled) {
    for (const char* const heading : {"host us", "waited %", "busiest link", "p99 us"}) {
      headings.emplace_back(heading);
    }
  }
  headings.emplace_back("why");
  return headings;
}

// Those whose times the runs tell apart from the fastest's by less than what is drawn, or by less
// than 1 %.
bool as_fast(const Outcome& best, const Outcome& other) {
  if (other.seconds < kAsFast * best.seconds) return true;
  if (best.repeats.empty() || other.repeats.empty()) return false;
  const double longest =
      std::max(best.seconds, *std::max_element(best.repeats.begin(), best.repeats.end()));
  const double shortest =
      std::min(other.seconds, *std::min_element(other.repeats.begin(), other.repeats.end()));
  return shortest < kAsFast * longest;
}

using Row = std::vector<const Outcome*>;

// "pio: 6.45 ms, 1.55 times as fast as sdma".
std::string choice_text(const Row& row, const std::vector<Row>& rows) {
  const Outcome& one = *row.front();
  std::string text = fmt::format("{}: {}", names_of(row), time_text(one.seconds));
  std::string level;
  for (const Row& other : rows) {
    const Outcome& second = *other.front();
    const bool there = second.reason.empty() && second.combination.on == one.combination.on;
    if (!there || &other == &row) continue;
    if (as_fast(one, second)) {
      level += (level.empty() ? ", as fast as " : ", ") + names_of(other);
      continue;
    }
    // Rows are in the order of their times.
    if (!level.empty() || one.seconds <= 0) return text + level;
    return text + fmt::format(", {:.2f} times as fast as {}", second.seconds / one.seconds,
                              names_of(other));
  }
  return text + level;
}

}  // namespace

std::uint64_t Outcome::counter(const std::string& name) const {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

std::uint64_t Outcome::messages() const {
  PortCounters sum;
  sum.packets_sent = counter("packets_sent");
  sum.multicasts_sent = counter("multicasts_sent");
  sum.parts_sent = counter("parts_sent");
  return messages_sent(sum);
}

std::string Outcome::lci() const { return implementation_used(combination.on, combination.lci); }

std::string Outcome::name() const {
  return combination.dsm_protocol.empty() ? lci() : lci() + " " + combination.dsm_protocol;
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
    outcome.computing = read_computing(part_at(read.value(), "computing"), *us);
  }
  const Json inside = part_at(read.value(), "inside");
  if (const auto host_us = number_at(inside, "host_us_a_message")) {
    const Json link = part_at(inside, "busiest_link");
    outcome.inside = Inside{*host_us,
                            number_at(part_at(inside, "host_percent"), "wait").value_or(0),
                            number_at(part_at(inside, "message_us"), "p99").value_or(0),
                            text_at(link, "name"),
                            number_at(link, "percent").value_or(0),
                            {}};
    for (const auto& [part, share] : part_at(inside, "host_percent").members()) {
      if (share.is_number()) outcome.inside->host.emplace_back(part, share.number());
    }
  }
  for (const auto& [name, value] : part_at(read.value(), "counters").members()) {
    if (value.is_unsigned()) outcome.counters[name] = value.whole();
  }
  const Json explained = part_at(read.value(), "explanation");
  for (const auto& [resource, us] : part_at(explained, "path_us").members()) {
    if (!us.is_number()) continue;
    outcome.path.push_back({resource, text_at(part_at(explained, "titles"), resource), us.number(),
                            number_at(part_at(explained, "twice_as_fast_us"), resource)});
  }
}

std::string explanation(const Outcome& outcome, const std::vector<Outcome>& outcomes) {
  if (outcome.sends_nothing()) return "sends nothing: no implementation is faster than another";
  const std::string silent = outcome.sends_no_data() ? "sends no data; " : "";
  const Outcome& best = best_of(outcomes, outcome, true);
  if (&best == &outcome || outcome.seconds < kAsFast * best.seconds) {
    const bool everywhere = &best_of(outcomes, outcome, false) == &outcome;
    const double behind = percent(outcome.seconds - best.seconds, best.seconds);
    std::string text = silent;
    text += &best != &outcome ? fmt::format("as fast as {}, {:+.2f} %", best.name(), behind)
            : everywhere      ? "best"
                              : "best on " + outcome.combination.on;
    return outcome.modelled ? text + "; " + limit_text(outcome) : text;
  }
  return silent +
         (outcome.modelled ? modelled_explanation(outcome, best) : real_explanation(outcome, best));
}

Table comparison_table(const std::vector<Outcome>& outcomes, bool modelled) {
  const std::vector<std::string> headings = headings_of(outcomes, modelled);
  const bool repeated = std::find(headings.begin(), headings.end(), "spread %") != headings.end();
  Table table(headings);
  for (const Row& row : rows_of(outcomes, modelled)) {
    const Outcome& one = *row.front();
    std::vector<std::string> cells = {one.combination.on, names_of(row)};
    if (!one.reason.empty()) {
      cells.resize(headings.size() - 1, "-");
      cells.push_back(one.reason);
      table.add(cells);
      continue;
    }
    cells.push_back(time_text(one.seconds));
    if (repeated) cells.push_back(fmt::format("{:.1f}", spread_percent(one)));
    cells.push_back(fmt::format("{:.2f}", ratio_of(one, outcomes)));
    for (const std::uint64_t count :
         {one.messages(), one.packets(), one.counter("bytes_sent"), one.counter("acks_sent"),
          one.counter("retransmissions"), one.stalls()}) {
      cells.push_back(fmt::format("{}", count));
    }
    if (modelled) add_inside(one, cells);
    cells.push_back(explanation(one, outcomes));
    table.add(cells);
  }
  return table;
}

Table host_times_table(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> headings = {"on", "lci"};
  const auto counted = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) {
    return one.inside && !one.inside->host.empty();
  });
  if (counted == outcomes.end()) return Table(headings);
  for (const auto& [part, percent] : counted->inside->host) headings.push_back(part + " %");
  Table table(headings);
  for (const Row& row : rows_of(outcomes, true)) {
    const Outcome& one = *row.front();
    if (!one.inside || one.inside->host.size() + 2 != headings.size()) continue;
    std::vector<std::string> cells = {one.combination.on, names_of(row)};
    for (const auto& [part, percent] : one.inside->host) {
      cells.push_back(fmt::format("{:.1f}", percent));
    }
    table.add(cells);
  }
  return table;
}

std::string comparison_advice(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const bool modelled : {true, false}) {
    const std::vector<Row> rows = rows_of(outcomes, modelled);
    std::set<std::string> told;
    for (const Row& row : rows) {
      const Outcome& one = *row.front();
      // The first row of a place is its fastest.
      if (!told.insert(one.combination.on).second) continue;
      if (!one.reason.empty()) {
        text += fmt::format("On {} no run came to its end.\n", one.combination.on);
        continue;
      }
      if (one.sends_nothing()) {
        text += fmt::format("On {} it does not matter: the program sends nothing.\n",
                            one.combination.on);
        continue;
      }
      text += fmt::format("On {} take {}", one.combination.on, choice_text(row, rows));
      text += modelled ? fmt::format(". Its limit: {}.\n", limit_text(one)) : ".\n";
      if (one.sends_no_data()) {
        text += "It sends no data: these are the packets of its start, its end and barriers.\n";
      }
    }
  }
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) {
    return one.modelled && one.reason.empty();
  });
  // All rows run one program.
  return text + (first == outcomes.end() ? "" : computing_note(first->computing));
}

std::string comparison_text(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const bool modelled : {true, false}) {
    const Table table = comparison_table(outcomes, modelled);
    if (!table.empty()) text += (text.empty() ? "" : "\n") + table.text();
  }
  const std::string advised = comparison_advice(outcomes);
  return text + (advised.empty() ? "" : "\n") + advised;
}

std::string comparison_json(const std::vector<Outcome>& outcomes, std::uint32_t ranks) {
  std::string text;
  for (const Outcome& one : outcomes) {
    Json line = {{"on", one.combination.on}, {"lci", one.lci()}, {"ranks", ranks}};
    if (!one.combination.dsm_protocol.empty()) {
      line["dsm_protocol"] = one.combination.dsm_protocol;
    }
    if (one.combination.is_default) line["default"] = true;
    if (one.reason.empty()) {
      line["seconds"] = one.seconds;
      line["modelled"] = one.modelled;
      line["ratio"] = ratio_of(one, outcomes);
      line["messages"] = one.messages();
      line["packets"] = one.packets();
      line["bytes"] = one.counter("bytes_sent");
      line["acks"] = one.counter("acks_sent");
      line["stalls"] = one.stalls();
      line["why"] = explanation(one, outcomes);
      line["retransmissions"] = one.counter("retransmissions");
      if (one.inside) {
        line["host_us_a_message"] = one.inside->host_us;
        line["waited_percent"] = one.inside->waited_percent;
        line["message_p99_us"] = one.inside->p99_us;
        if (!one.inside->link.empty()) {
          line["busiest_link"] = {{"name", one.inside->link},
                                  {"percent", one.inside->link_percent}};
        }
      }
      if (!one.repeats.empty()) {
        line["repeats"] = Json::array();
        for (const double seconds : one.repeats) line["repeats"].push_back(seconds);
        line["spread_percent"] = spread_percent(one);
      }
      const auto same = std::find_if(outcomes.begin(), outcomes.end(),
                                     [&](const Outcome& other) { return equal(other, one); });
      if (same != outcomes.end() && &*same != &one) line["same_as"] = same->name();
      if (one.modelled) line["computing"] = computing_json(one.computing);
      for (const PathPart& part : one.path) {
        line["path_us"][part.resource] = part.us;
        if (part.twice_us) line["twice_as_fast_us"][part.resource] = *part.twice_us;
      }
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
