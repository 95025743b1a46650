#include "tools/fairlead/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/comparison_traffic.h"
#include "tools/fairlead/report/hatching.h"
#include "tools/fairlead/report/html.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

// Pixels.
constexpr double kNames = 190;
constexpr double kBars = 660;
constexpr double kTimes = 110;
constexpr double kRow = 26;
constexpr double kBar = 18;
constexpr double kLetter = 6;  // of a share's name
constexpr double kLegendColumn = 160;
constexpr double kLegendRow = 18;
constexpr std::size_t kLegendColumns = 6;
constexpr std::size_t kReasonMost = 90;  // letters of it beside the bars; the table has the rest

constexpr const char* kColours[] = {"#0b62a4", "#9ecae1", "#d1495b", "#f4b6be",
                                    "#2e8b57", "#b5dcc4", "#8a5fbf", "#d9c9ee"};

// The places in the order in which they first stand.
std::vector<std::string> places_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> places;
  for (const Outcome& one : outcomes) {
    const std::string& on = one.combination.on;
    if (std::find(places.begin(), places.end(), on) == places.end()) places.push_back(on);
  }
  return places;
}

std::string bar_part(double x, double y, double width, const std::string& fill,
                     const std::string& name, const std::string& title) {
  std::string text = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
      "stroke=\"#ffffff\"><title>{}</title></rect>\n",
      x, y, width, kBar, fill, escaped(title));
  if (width < kLetter * static_cast<double>(name.size()) + 8) return text;
  // With a border, so that it can be read on the hatching.
  return text + fmt::format(
                    "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#222222\" font-size=\"10\" "
                    "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
                    x + 4, y + kBar - 5, escaped(name));
}

// The resources that some run waited for, each with one fill on the whole page.
std::vector<std::string> resources_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> titles;
  for (const Outcome& one : outcomes) {
    for (const PathPart& part : one.path) {
      const bool known = std::find(titles.begin(), titles.end(), part.title) != titles.end();
      if (part.us > 0 && !known) titles.push_back(part.title);
    }
  }
  return titles;
}

// The numbers of those that some of the rows waited for.
std::vector<std::size_t> used_by(const std::vector<const Outcome*>& rows,
                                 const std::vector<std::string>& resources) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const bool by_some = std::any_of(rows.begin(), rows.end(), [&](const Outcome* row) {
      return std::any_of(row->path.begin(), row->path.end(), [&](const PathPart& part) {
        return part.us > 0 && part.title == resources[i];
      });
    });
    if (by_some) used.push_back(i);
  }
  return used;
}

std::string bar(const Outcome& one, const std::vector<std::string>& resources,
                const std::string& prefix, double longest, double y) {
  std::string text =
      fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>\n", y + kBar - 4,
                  escaped(one.name() + (one.combination.is_default ? " (default)" : "")));
  if (!one.reason.empty()) {
    const bool whole = one.reason.size() <= kReasonMost;
    return text +
           fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"#b00020\">{}</text>\n", kNames,
                       y + kBar - 4,
                       escaped(whole ? one.reason : one.reason.substr(0, kReasonMost) + "..."));
  }
  const double width = longest <= 0 ? 0 : one.seconds / longest * kBars;
  double x = kNames;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const auto part = std::find_if(one.path.begin(), one.path.end(), [&](const PathPart& each) {
      return each.title == resources[i];
    });
    const double share =
        part == one.path.end() || one.seconds <= 0 ? 0 : part->us / (one.seconds * 1e6);
    if (share <= 0) continue;
    text += bar_part(x, y, share * width, hatching_fill(prefix, i), part->title,
                     fmt::format("{}: {:.0f} %", part->title, share * 100));
    x += share * width;
  }
  if (one.path.empty()) text += bar_part(x, y, width, hatching_fill(prefix, 0), "", one.name());
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kNames + width + 6,
                            y + kBar - 4, escaped(time_text(one.seconds)));
}

double legend_height(std::size_t entries) {
  return kLegendRow * static_cast<double>((entries + kLegendColumns - 1) / kLegendColumns);
}

std::string legend(const std::vector<std::string>& resources, const std::vector<std::size_t>& used,
                   const std::string& prefix, double top) {
  std::string text;
  for (std::size_t at = 0; at < used.size(); ++at) {
    const double x = kLegendColumn * static_cast<double>(at % kLegendColumns);
    const double y = top + kLegendRow * static_cast<double>(at / kLegendColumns);
    text += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"24\" height=\"12\" fill=\"{2}\"/>"
        "<text x=\"{3}\" y=\"{4}\" font-size=\"11\">{5}</text>\n",
        x, y, hatching_fill(prefix, used[at]), x + 29, y + 10, escaped(resources[used[at]]));
  }
  return text;
}

std::string figure(const std::vector<Outcome>& outcomes, const std::vector<std::string>& resources,
                   const std::string& on, const std::string& prefix) {
  std::vector<const Outcome*> rows;
  double longest = 0;
  for (const Outcome& one : outcomes) {
    if (one.combination.on != on) continue;
    rows.push_back(&one);
    if (one.reason.empty()) longest = std::max(longest, one.seconds);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Outcome* a, const Outcome* b) {
    return std::pair(!a->reason.empty(), a->seconds) < std::pair(!b->reason.empty(), b->seconds);
  });
  const std::vector<std::size_t> used = used_by(rows, resources);
  const double bars = kRow * static_cast<double>(rows.size());
  const double height = bars + 8 + legend_height(used.size());
  std::string text = fmt::format(
      "<figure>\n<svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} "
      "{:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n",
      kNames + kBars + kTimes, height);
  // Real runs have one fill.
  const std::size_t fills = std::max<std::size_t>(1, resources.size());
  std::vector<std::string> colours;
  for (std::size_t i = 0; i < fills; ++i) colours.emplace_back(kColours[i % std::size(kColours)]);
  text += hatching_defs(prefix, colours);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += bar(*rows[i], resources, prefix, longest, kRow * static_cast<double>(i));
  }
  const bool modelled = !rows.empty() && rows.front()->modelled;
  return text + legend(resources, used, prefix, bars + 4) +
         fmt::format("</svg>\n<figcaption>{}</figcaption>\n</figure>\n",
                     modelled ? "Virtual time, and the resources that its critical path waits for."
                              : "Wall time, from the first rank's start to the last one's end.");
}

}  // namespace

std::string comparison_page(const std::vector<Outcome>& outcomes,
                            const std::vector<std::string>& program, std::uint32_t ranks,
                            const Json& profile) {
  std::string body =
      fmt::format("<h1>{}</h1>\n<p class=\"note\">{} ranks; commit {}.</p>\n",
                  escaped(fmt::format("{}", fmt::join(program, " "))), ranks, escaped(kCommit));
  const std::vector<std::string> places = places_of(outcomes);
  const std::vector<std::string> resources = resources_of(outcomes);
  for (std::size_t i = 0; i < places.size(); ++i) {
    body += fmt::format("<h2>{}</h2>\n{}", escaped(places[i]),
                        figure(outcomes, resources, places[i], fmt::format("place{}-", i)));
  }
  body += "<h2>Why</h2>\n";
  for (const bool modelled : {true, false}) {
    const Table table = comparison_table(outcomes, modelled);
    if (!table.empty()) body += table.html();
  }
  body += fmt::format("<pre class=\"why\">{}</pre>\n", escaped(comparison_advice(outcomes)));
  if (const Table hosts = host_times_table(outcomes); !hosts.empty()) {
    body += "<h2>What the hosts' time goes to</h2>\n" + hosts.html();
  }
  return page("Fairlead compare", body + traffic_html(profile));
}

}  // namespace fairlead::tools
