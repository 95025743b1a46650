#include "tools/fairlead/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/base/numbers.h"
#include "tools/fairlead/report/html.h"

namespace fairlead::tools {

namespace {

constexpr double kClose = 5;  // per cent
constexpr double kGood = 8;
constexpr std::size_t kNamedMax = 60;

struct Tally {
  struct Outside {
    std::string study;
    std::string link;
    std::string cell;
    double error_percent;
  };
  std::size_t compared = 0;
  std::size_t close = 0;
  std::size_t good = 0;
  std::size_t predicted = 0;
  std::vector<Outside> outside;
  std::size_t statements = 0;
  std::size_t hold = 0;
  std::size_t unknown = 0;
  std::vector<std::string> broken;  // HTML
};

// Papers number their figures alike: "Figure 5, LCI paper". Its source names the paper first.
std::string full_name_of(const Json& study) {
  const std::string name = name_of_study(text_at(study, "paper"), text_at(study, "id"));
  const std::string source = text_at(study, "source");
  const std::string paper = source.substr(0, source.find(','));
  return paper.empty() ? name : name + ", " + paper;
}

std::string link_of(const Json& study) {
  return text_at(study, "paper") + "-" + text_at(study, "id");
}

void count_cell(const Json& study, const Json& cell, Tally& tally) {
  const auto error = number_at(cell, "error_percent");
  if (!error) {
    if (number_at(cell, "ours")) ++tally.predicted;
    return;
  }
  ++tally.compared;
  if (std::abs(*error) <= kClose) ++tally.close;
  if (std::abs(*error) <= kGood) {
    ++tally.good;
    return;
  }
  tally.outside.push_back({full_name_of(study), link_of(study),
                           text_at(cell, "row") + ", " + text_at(cell, "column"), *error});
}

void count_statement(const Json& study, const Json& statement, Tally& tally) {
  ++tally.statements;
  const auto holds = flag_at(statement, "holds");
  if (!holds) {
    ++tally.unknown;
  } else if (*holds) {
    ++tally.hold;
  } else {
    tally.broken.push_back(
        fmt::format("<li><a href=\"#{}\">{}</a>: {}. <span class=\"note\">{}</span></li>\n",
                    escaped(link_of(study)), escaped(full_name_of(study)),
                    escaped(text_at(statement, "text")), escaped(text_at(statement, "detail"))));
  }
}

Tally tally_of(const Json& document) {
  Tally tally;
  for (const char* kind : {"tables", "figures"}) {
    for (const Json& study : part_at(document, kind)) {
      for (const Json& cell : part_at(study, "cells")) count_cell(study, cell, tally);
      for (const Json& one : part_at(study, "statements")) count_statement(study, one, tally);
    }
  }
  std::stable_sort(tally.outside.begin(), tally.outside.end(), [](const auto& a, const auto& b) {
    return std::abs(a.error_percent) > std::abs(b.error_percent);
  });
  return tally;
}

std::string outside_table(const Tally& tally) {
  if (tally.outside.empty()) return "";
  std::string html =
      "<table><thead><tr><th>outside 8 %</th><th "
      "class=\"name\">value</th><th>error</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < std::min(kNamedMax, tally.outside.size()); ++i) {
    const Tally::Outside& one = tally.outside[i];
    html += fmt::format(
        "<tr><td><a href=\"#{}\">{}</a></td><td class=\"name\">{}</td><td class=\"bad\">{:+.1f} "
        "%</td></tr>\n",
        escaped(one.link), escaped(one.study), escaped(one.cell), one.error_percent);
  }
  html += "</tbody></table>\n";
  if (tally.outside.size() <= kNamedMax) return html;
  return html +
         fmt::format("<p class=\"note\">And {} more.</p>\n", tally.outside.size() - kNamedMax);
}

std::string roman(std::uint32_t number) {
  static constexpr const char* kNames[] = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"};
  return number >= 1 && number <= std::size(kNames) ? kNames[number - 1] : std::to_string(number);
}

}  // namespace

std::string name_of_study(const std::string& paper, const std::string& id) {
  for (const auto& [begin, name] : {std::pair("figure", "Figure"), std::pair("table", "Table")}) {
    if (!id.starts_with(begin)) continue;
    const std::string rest = id.substr(std::string_view(begin).size());
    const auto number = whole_number<std::uint32_t>(rest);
    // The LCI paper numbers its tables in Roman.
    const bool in_roman = number && paper == "lci" && id[0] == 't';
    return fmt::format("{} {}", name, in_roman ? roman(*number) : rest);
  }
  return id;
}

std::string summary_html(const Json& document) {
  const Tally tally = tally_of(document);
  if (tally.compared + tally.statements == 0) return "";
  std::string html = fmt::format(
      "<p>Of {} values that can be compared with a published one, <b>{} lie within 5 %</b> and {} "
      "within 8 %; {} more are predictions without one. ",
      tally.compared, tally.close, tally.good, tally.predicted);
  html += fmt::format("Of {} statements that the papers make in words, <b>{} hold</b>",
                      tally.statements, tally.hold);
  if (tally.unknown > 0) html += fmt::format(" and {} cannot be judged", tally.unknown);
  html += tally.broken.empty() ? ".</p>\n" : "; those that do not:</p>\n<ul>\n";
  for (const std::string& one : tally.broken) html += one;
  if (!tally.broken.empty()) html += "</ul>\n";
  return html + outside_table(tally);
}

}  // namespace fairlead::tools
