#include "tools/fairlead/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "tools/fairlead/build_facts.h"
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

// Shares differ in lightness as well, so that neighbours stay apart on paper.
constexpr const char* kColours[] = {"#0b62a4", "#9ecae1", "#d1495b", "#f4b6be",
                                    "#2e8b57", "#b5dcc4", "#8a5fbf", "#d9c9ee"};
constexpr const char* kTexts[] = {"#ffffff", "#222222"};

// The places in the order in which they first stand.
std::vector<std::string> places_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> places;
  for (const Outcome& one : outcomes) {
    const std::string& on = one.combination.on;
    if (std::find(places.begin(), places.end(), on) == places.end()) places.push_back(on);
  }
  return places;
}

std::string bar_part(double x, double y, double width, std::size_t colour, const std::string& name,
                     const std::string& title) {
  std::string text = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
      "stroke=\"#ffffff\"><title>{}</title></rect>\n",
      x, y, width, kBar, kColours[colour % std::size(kColours)], escaped(title));
  if (width < kLetter * static_cast<double>(name.size()) + 8) return text;
  return text +
         fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" font-size=\"10\">{}</text>\n",
                     x + 4, y + kBar - 5, kTexts[colour % 2], escaped(name));
}

// The resources that some run waited for, each with one colour in all rows.
std::vector<std::string> resources_of(const std::vector<const Outcome*>& rows) {
  std::vector<std::string> titles;
  for (const Outcome* const row : rows) {
    for (const PathPart& part : row->path) {
      const bool known = std::find(titles.begin(), titles.end(), part.title) != titles.end();
      if (part.us > 0 && !known) titles.push_back(part.title);
    }
  }
  return titles;
}

std::string bar(const Outcome& one, const std::vector<std::string>& resources, double longest,
                double y) {
  std::string text =
      fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>\n", y + kBar - 4, escaped(one.name()));
  if (!one.reason.empty()) {
    return text + fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"#b00020\">{}</text>\n", kNames,
                              y + kBar - 4, escaped(one.reason.substr(0, 90)));
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
    text += bar_part(x, y, share * width, i, part->title,
                     fmt::format("{}: {:.0f} %", part->title, share * 100));
    x += share * width;
  }
  if (one.path.empty()) text += bar_part(x, y, width, 0, "", one.name());
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kNames + width + 6,
                            y + kBar - 4, escaped(time_text(one.seconds)));
}

std::string legend(const std::vector<std::string>& resources, double y) {
  std::string text;
  double x = kNames;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    text += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"11\" height=\"11\" fill=\"{2}\"/>"
        "<text x=\"{3}\" y=\"{4}\" font-size=\"11\">{5}</text>\n",
        x, y, kColours[i % std::size(kColours)], x + 15, y + 10, escaped(resources[i]));
    x += 30 + kLetter * static_cast<double>(resources[i].size());
  }
  return text;
}

std::string figure(const std::vector<Outcome>& outcomes, const std::string& on) {
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
  const std::vector<std::string> resources = resources_of(rows);
  const double height = kRow * static_cast<double>(rows.size()) + 24;
  std::string text = fmt::format(
      "<figure>\n<svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} "
      "{:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n",
      kNames + kBars + kTimes, height);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += bar(*rows[i], resources, longest, kRow * static_cast<double>(i));
  }
  const bool modelled = !rows.empty() && rows.front()->modelled;
  return text + legend(resources, height - 16) +
         fmt::format("</svg>\n<figcaption>{}</figcaption>\n</figure>\n",
                     modelled ? "Virtual time, and the resources that its critical path waits for."
                              : "Wall time, from the first rank's start to the last one's end.");
}

}  // namespace

std::string comparison_page(const std::vector<Outcome>& outcomes,
                            const std::vector<std::string>& program, std::uint32_t ranks) {
  std::string body =
      fmt::format("<h1>{}</h1>\n<p class=\"note\">{} ranks; commit {}.</p>\n",
                  escaped(fmt::format("{}", fmt::join(program, " "))), ranks, escaped(kCommit));
  for (const std::string& on : places_of(outcomes)) {
    body += fmt::format("<h2>{}</h2>\n{}", escaped(on), figure(outcomes, on));
  }
  body += fmt::format("<h2>Why</h2>\n<pre class=\"why\">{}</pre>\n",
                      escaped(comparison_text(outcomes)));
  return page("Fairlead compare", body);
}

}  // namespace fairlead::tools
