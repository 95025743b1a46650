#include "tools/fairlead/report/journey_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fairlead/run/launch/world.h"
#include "fairlead/run/model/model_world.h"
#include "tools/fairlead/bench/bench.h"
#include "tools/fairlead/report/hatching.h"
#include "tools/fairlead/report/html.h"
#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {
namespace {

using fabric::model::kStages;
using fabric::model::kStageTitles;

constexpr std::uint32_t kNodes = 64;
constexpr std::uint64_t kBytes = 16;
constexpr std::uint32_t kRoundTrips = 20;

// Hosts blue, NIs orange, DMA and bus green, links grey; waits pale.
constexpr const char* kColours[kStages] = {"#0b62a4", "#f6d9b8", "#2e8b57", "#d97706",
                                           "#fbe9d0", "#7a7a7a", "#f1cfa5", "#b45309",
                                           "#57a773", "#a8d5ba", "#cfe2f3", "#4a90c9"};

double us(Ps time) { return to_us(time); }

}  // namespace

Result<TracedMessage> small_message(const std::string& on, const std::string& lci) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  run::WorldOptions world;
  world.on = on;
  world.lci = lci;
  world.ranks = kNodes;
  world.trace_path = folder.value().path() + "/trace.json";
  BenchOptions options;
  options.sizes = {kBytes};
  options.repetitions = kRoundTrips;
  options.partner = run::mean_partner(world);
  options.modelled = true;
  // As its column of Table IV.
  options.put = lci == "rcpy";
  options.fill = false;
  Rows rows;
  const auto report = run::run_world(
      world, [&](run::Context& context) { return latency_body(context, options, rows); });
  if (!report.ok()) return report.error();
  if (!report.value().failure.empty()) return Error{report.value().failure};
  const Result<TraceSummary> summary = summarize_trace(world.trace_path);
  if (!summary.ok()) {
    // Without the folder, which has another name every time: pages of equal runs are equal.
    const std::string& text = summary.error().text;
    const std::string before = world.trace_path + ": ";
    return Error{text.starts_with(before) ? text.substr(before.size()) : text};
  }
  return summary.value().median;
}

std::string bars_svg(const std::vector<JourneyBar>& bars, std::size_t number) {
  const std::string prefix = fmt::format("journey{}-", number);
  constexpr double kLeft = 110;
  constexpr double kWidth = 780;
  constexpr double kRow = 34;
  double longest = 0;
  for (const JourneyBar& bar : bars) longest = std::max(longest, us(bar.message.total));
  const double scale = longest > 0 ? (kWidth - kLeft - 70) / longest : 1;
  const double legend = kRow * static_cast<double>(bars.size()) + 24;
  const double height = legend + 18 * ((kStages + 2) / 3) + 6;
  std::string svg = fmt::format(
      "<svg role=\"img\" class=\"journey\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">",
      kWidth, height);
  svg += hatching_defs(prefix, {std::begin(kColours), std::end(kColours)});
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const double top = kRow * static_cast<double>(b) + 6;
    svg += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>", top + 17, escaped(bars[b].lci));
    double x = kLeft;
    for (std::size_t s = 0; s < kStages; ++s) {
      const double width = us(bars[b].message.stages[s]) * scale;
      if (width <= 0) continue;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"24\" fill=\"{}\" "
          "stroke=\"#ffffff\" stroke-width=\"0.5\"><title>{}: {:.3f} us</title></rect>",
          x, top, width, hatching_fill(prefix, s), escaped(std::string(kStageTitles[s])),
          us(bars[b].message.stages[s]));
      x += width;
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{:.2f} us</text>", x + 6, top + 17,
                       us(bars[b].message.total));
  }
  for (std::size_t s = 0; s < kStages; ++s) {
    const double x = static_cast<double>(s % 3) * 265;
    const double y = legend + 18 * static_cast<double>(s / 3);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>"
        "<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>",
        x, y, hatching_fill(prefix, s), x + 17, y + 10, escaped(std::string(kStageTitles[s])));
  }
  return svg + "</svg>";
}

std::string sentence_of(const std::vector<JourneyBar>& bars) {
  if (bars.empty()) return "Nothing was measured.";
  const auto [fastest, slowest] = std::minmax_element(
      bars.begin(), bars.end(),
      [](const JourneyBar& a, const JourneyBar& b) { return a.message.total < b.message.total; });
  const auto& stages = fastest->message.stages;
  const auto largest = std::max_element(stages.begin(), stages.end());
  std::string text = fmt::format(
      "{} has the shortest way, {:.2f} us; its longest stage is {} ({:.0f} %)", fastest->lci,
      us(fastest->message.total), kStageTitles[static_cast<std::size_t>(largest - stages.begin())],
      us(*largest) / us(fastest->message.total) * 100);
  if (fastest != slowest) {
    text += fmt::format("; {} takes {:.2f} times as long", slowest->lci,
                        us(slowest->message.total) / us(fastest->message.total));
  }
  return text + ".";
}

}  // namespace fairlead::tools
