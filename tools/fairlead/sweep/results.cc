#include "tools/fairlead/sweep/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/json.h"
#include "tools/fairlead/sweep/values.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

// Two points whose values differ in one parameter, by one step.
struct Step {
  std::size_t from;
  std::size_t to;
  std::size_t parameter;
};

std::vector<Step> steps_of(const Sweep& sweep) {
  std::vector<Step> steps;
  std::size_t stride = 1;
  for (std::size_t i = sweep.parameters.size(); i-- > 0;) {
    const std::size_t count = sweep.parameters[i].values.size();
    for (std::size_t point = 0; point < sweep.points(); ++point) {
      if (point / stride % count + 1 < count) steps.push_back({point, point + stride, i});
    }
    stride *= count;
  }
  return steps;
}

// Seconds of a series at a point, where its run came to its end.
std::optional<double> seconds_at(const SweepSeries& series, std::size_t point) {
  const Outcome& outcome = series.outcomes[point];
  if (!outcome.reason.empty()) return std::nullopt;
  return outcome.seconds;
}

// How far between the two points, 0 to 1, `a` and `b` cross; nothing: they do not.
struct Meeting {
  double part;
  bool a_below;  // `a` is the faster one before
};
std::optional<Meeting> meeting(const SweepSeries& a, const SweepSeries& b, const Step& step) {
  const auto a0 = seconds_at(a, step.from);
  const auto a1 = seconds_at(a, step.to);
  const auto b0 = seconds_at(b, step.from);
  const auto b1 = seconds_at(b, step.to);
  if (!a0 || !a1 || !b0 || !b1) return std::nullopt;
  const double before = *a0 - *b0;
  const double after = *a1 - *b1;
  if (before * after >= 0) return std::nullopt;
  return Meeting{before / (before - after), before < 0};
}

// Whether no third series is faster at the value where two of them meet.
bool fastest_there(const SweepResults& results, const SweepSeries& one, const Step& step,
                   double part) {
  const auto at = [&](const SweepSeries& series) -> std::optional<double> {
    const auto before = seconds_at(series, step.from);
    const auto after = seconds_at(series, step.to);
    if (!before || !after) return std::nullopt;
    return *before + (*after - *before) * part;
  };
  constexpr double kLess = 1 - 1e-9;  // the two themselves differ by rounding
  const double here = at(one).value_or(0);
  return std::none_of(results.series.begin(), results.series.end(), [&](const SweepSeries& other) {
    return at(other).value_or(here) < here * kLess;
  });
}

std::string crossing_sentence(const SweepResults& results, const Crossing& crossing) {
  const std::vector<Parameter>& parameters = results.sweep.parameters;
  std::string where;
  if (!crossing.others.empty()) {
    where = fmt::format(" with {} {}", parameters[1 - crossing.parameter].name,
                        value_text(crossing.others.front()));
  }
  return fmt::format("At {} {} (between {} and {}){} {} becomes faster than {}{}.\n",
                     parameters[crossing.parameter].name, show_number(crossing.value),
                     value_text(crossing.from), value_text(crossing.to), where, crossing.above,
                     crossing.below, crossing.of_best ? ", and is the fastest" : "");
}

std::string time_cell(const SweepResults& results, const SweepSeries& series, std::size_t point) {
  if (!seconds_at(series, point)) return "-";
  const bool best = results.best_at(point) == &series;
  return time_text(series.outcomes[point].seconds) +
         (best && results.series.size() > 1 ? " *" : "");
}

std::string lines_text(const SweepResults& results) {
  const Parameter& parameter = results.sweep.parameters[0];
  std::vector<std::string> headings = {parameter.name};
  for (const SweepSeries& series : results.series) headings.push_back(series.name);
  Table table(headings);
  for (std::size_t point = 0; point < parameter.values.size(); ++point) {
    std::vector<std::string> cells = {value_text(parameter.values[point])};
    for (const SweepSeries& series : results.series) {
      cells.push_back(time_cell(results, series, point));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string grid_text(const SweepResults& results) {
  const Parameter& rows = results.sweep.parameters[0];
  const Parameter& columns = results.sweep.parameters[1];
  std::vector<std::string> headings = {fmt::format("{} \\ {}", rows.name, columns.name)};
  for (const double value : columns.values) headings.push_back(value_text(value));
  Table table(headings);
  for (std::size_t row = 0; row < rows.values.size(); ++row) {
    std::vector<std::string> cells = {value_text(rows.values[row])};
    for (std::size_t column = 0; column < columns.values.size(); ++column) {
      const std::size_t point = row * columns.values.size() + column;
      const SweepSeries* best = results.best_at(point);
      if (best == nullptr) {
        cells.emplace_back("-");
        continue;
      }
      const std::string time = time_text(best->outcomes[point].seconds);
      cells.push_back(results.series.size() == 1 ? time : fmt::format("{} {}", best->name, time));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

// "pio is the fastest at 14 of 20 points, nirx at 6."
std::string winners_text(const SweepResults& results) {
  if (results.series.size() < 2) return "";
  std::vector<std::pair<std::size_t, const SweepSeries*>> wins;
  for (const SweepSeries& series : results.series) wins.emplace_back(0, &series);
  std::size_t points = 0;
  for (std::size_t point = 0; point < results.sweep.points(); ++point) {
    const SweepSeries* const best = results.best_at(point);
    if (best == nullptr) continue;
    ++wins[static_cast<std::size_t>(best - results.series.data())].first;
    ++points;
  }
  std::stable_sort(wins.begin(), wins.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (points == 0) return "";
  if (wins[0].first == points)
    return fmt::format("{} is the fastest throughout.\n", wins[0].second->name);
  std::string text = fmt::format("{} is the fastest at {} of {} points", wins[0].second->name,
                                 wins[0].first, points);
  for (std::size_t i = 1; i < wins.size() && wins[i].first > 0; ++i) {
    text += fmt::format(", {} at {}", wins[i].second->name, wins[i].first);
  }
  return text + ".\n";
}

// Each cause of a missing time once, with the runs it ended.
std::string reasons_text(const SweepResults& results) {
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const SweepSeries& series : results.series) {
    for (const Outcome& outcome : series.outcomes) {
      if (outcome.reason.empty()) continue;
      const std::string text = fmt::format("{}: {}", series.name, outcome.reason);
      const auto found = std::find_if(reasons.begin(), reasons.end(),
                                      [&](const auto& one) { return one.first == text; });
      if (found == reasons.end()) {
        reasons.emplace_back(text, 1);
      } else {
        ++found->second;
      }
    }
  }
  std::string text;
  for (const auto& [reason, runs] : reasons) {
    text += fmt::format("{} without a time: {}\n",
                        runs == 1 ? "1 run" : fmt::format("{} runs", runs), reason);
  }
  return text;
}

Json values_json(const SweepResults& results, const std::vector<double>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < values.size(); ++i) {
    json[results.sweep.parameters[i].name] = values[i];
  }
  return json;
}

}  // namespace

const SweepSeries* SweepResults::best_at(std::size_t point) const {
  const SweepSeries* best = nullptr;
  for (const SweepSeries& one : series) {
    if (!seconds_at(one, point)) continue;
    if (best == nullptr || one.outcomes[point].seconds < best->outcomes[point].seconds) best = &one;
  }
  return best;
}

std::vector<Crossing> crossings_of(const SweepResults& results) {
  std::vector<Crossing> found;
  for (const Step& step : steps_of(results.sweep)) {
    const std::vector<double> from = results.sweep.values_at(step.from);
    const std::vector<double> to = results.sweep.values_at(step.to);
    for (std::size_t a = 0; a < results.series.size(); ++a) {
      for (std::size_t b = a + 1; b < results.series.size(); ++b) {
        const SweepSeries& one = results.series[a];
        const SweepSeries& other = results.series[b];
        const std::optional<Meeting> met = meeting(one, other, step);
        if (!met) continue;
        const std::size_t p = step.parameter;
        Crossing crossing{p,
                          from[p] + (to[p] - from[p]) * met->part,
                          from[p],
                          to[p],
                          met->a_below ? one.name : other.name,
                          met->a_below ? other.name : one.name,
                          fastest_there(results, one, step, met->part),
                          {}};
        if (from.size() == 2) crossing.others = {from[1 - p]};
        found.push_back(std::move(crossing));
      }
    }
  }
  return found;
}

std::string sweep_text(const SweepResults& results) {
  const bool one = results.sweep.parameters.size() == 1;
  std::string text = one ? lines_text(results) : grid_text(results);
  if (one && results.series.size() > 1) text += "* the fastest of its row\n";
  text += "\n" + winners_text(results);
  for (const Crossing& crossing : crossings_of(results)) {
    // In a grid the cells show who is fastest; all pairs would be too many sentences.
    if (one || crossing.of_best) text += crossing_sentence(results, crossing);
  }
  return text + reasons_text(results);
}

std::string sweep_json(const SweepResults& results) {
  std::string text;
  for (std::size_t point = 0; point < results.sweep.points(); ++point) {
    for (const SweepSeries& series : results.series) {
      const Outcome& outcome = series.outcomes[point];
      Json line = {{"kind", "run"},
                   {"commit", kCommit},
                   {"on", series.combination.on},
                   {"lci", outcome.lci()},
                   {"values", values_json(results, results.sweep.values_at(point))}};
      if (outcome.reason.empty()) {
        line["seconds"] = outcome.seconds;
        line["best"] = results.best_at(point) == &series;
        line["packets"] = outcome.packets();
        line["bytes"] = outcome.counter("bytes_sent");
        line["retransmissions"] = outcome.counter("retransmissions");
        line["stalls"] = outcome.stalls();
      } else {
        line["reason"] = outcome.reason;
      }
      text += line.dump() + "\n";
    }
  }
  for (const Crossing& crossing : crossings_of(results)) {
    Json line = {{"kind", "crossing"},
                 {"parameter", results.sweep.parameters[crossing.parameter].name},
                 {"value", crossing.value},
                 {"between", {crossing.from, crossing.to}},
                 {"faster_below", crossing.below},
                 {"faster_above", crossing.above},
                 {"of_the_fastest", crossing.of_best}};
    if (!crossing.others.empty()) {
      line["where"] = Json::object();
      line["where"][results.sweep.parameters[1 - crossing.parameter].name] = crossing.others[0];
    }
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace fairlead::tools
