#include "tools/fairlead/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/fairlead/table.h"

namespace fairlead::tools {
namespace {

constexpr double kShareMin = 0.05;
constexpr std::string_view kTimer = "timer";

double share_of(Ps part, Ps whole) {
  return whole.count == 0 ? 0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

const Faster* faster_of(const Explanation& explanation, const std::string& resource) {
  for (const Faster& one : explanation.twice) {
    if (one.resource == resource) return &one;
  }
  return nullptr;
}

std::string verdict(const Explanation& explanation) {
  const Faster* best = nullptr;
  for (const Faster& one : explanation.twice) {
    if (one.reason.empty() && (best == nullptr || one.time < best->time)) best = &one;
  }
  std::string text = fmt::format("most of the path: {}", explanation.path.front().title);
  if (best == nullptr) return text + "\n";
  const double gain = 1 - share_of(best->time, explanation.time);
  for (const run::PathShare& share : explanation.path) {
    if (best->resource != share.resource) continue;
    text +=
        fmt::format("; what helps most: {} twice as fast, {:.1f} % off\n", share.title, gain * 100);
  }
  return text;
}

}  // namespace

Explanation explanation_of(const run::RunReport& report) {
  Explanation made;
  made.time = report.virtual_time;
  made.path = report.critical_path;
  std::stable_sort(
      made.path.begin(), made.path.end(),
      [](const run::PathShare& a, const run::PathShare& b) { return a.time > b.time; });
  return made;
}

std::vector<std::string> candidates(const Explanation& explanation) {
  // A program that paces itself by the clock is bound by that; what it does in between is the rest.
  Ps at_work = explanation.time;
  for (const run::PathShare& share : explanation.path) {
    if (std::string_view(share.resource) == kTimer) at_work -= share.time;
  }
  std::vector<std::string> found;
  for (const run::PathShare& share : explanation.path) {
    if (std::string_view(share.resource) == kTimer) continue;
    if (share_of(share.time, at_work) >= kShareMin) found.emplace_back(share.resource);
  }
  return found;
}

std::string twice_as_fast(const std::string& faster, const std::string& resource) {
  return faster + (faster.empty() ? "" : ",") + resource + "=2";
}

std::string explanation_text(const Explanation& explanation) {
  if (explanation.path.empty() || explanation.time.count == 0) {
    return "critical path: the run took no virtual time\n";
  }
  std::string text = fmt::format("critical path of {:.3f} us: what the run's end waited for last\n",
                                 to_us(explanation.time));
  Table table({"resource", "path us", "%", "twice as fast: run us", "saves %"});
  std::string failures;
  for (const run::PathShare& share : explanation.path) {
    if (share.time.count == 0) continue;
    std::string time = "-";
    std::string saves = "-";
    const Faster* faster = faster_of(explanation, share.resource);
    if (faster != nullptr && faster->reason.empty()) {
      time = fmt::format("{:.3f}", to_us(faster->time));
      saves = fmt::format("{:.1f}", (1 - share_of(faster->time, explanation.time)) * 100);
    } else if (faster != nullptr) {
      failures += fmt::format("{} twice as fast: {}\n", share.title, faster->reason);
    }
    table.add({share.title, fmt::format("{:.3f}", to_us(share.time)),
               fmt::format("{:.1f}", share_of(share.time, explanation.time) * 100), time, saves});
  }
  return text + table.text() + failures + verdict(explanation);
}

Json explanation_json(const Explanation& explanation) {
  Json path;
  for (const run::PathShare& share : explanation.path) path[share.resource] = to_us(share.time);
  Json twice = Json::object();
  for (const Faster& one : explanation.twice) {
    if (one.reason.empty()) {
      twice[one.resource] = to_us(one.time);
    } else {
      twice[one.resource] = nullptr;
    }
  }
  Json titles = Json::object();
  for (const run::PathShare& share : explanation.path) titles[share.resource] = share.title;
  return {{"time_us", to_us(explanation.time)},
          {"path_us", path},
          {"titles", titles},
          {"twice_as_fast_us", twice}};
}

}  // namespace fairlead::tools
