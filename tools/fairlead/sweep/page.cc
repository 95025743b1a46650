#include "tools/fairlead/sweep/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/report/html.h"
#include "tools/fairlead/report/panel.h"
#include "tools/fairlead/sweep/values.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

// Pixels of a map.
constexpr int kCellWidth = 86;
constexpr int kCellHeight = 40;
constexpr int kLeftLeast = 100;
constexpr int kLetter = 8;
constexpr int kTop = 56;

// Values that lie in equal ratios are drawn on a logarithmic axis.
bool in_ratios(const std::vector<double>& values) {
  if (values.size() < 3 || values.front() <= 0) return false;
  const double first = values[1] / values[0];
  const double last = values.back() / values[values.size() - 2];
  return std::abs(first - last) < 0.1 * (first - 1);
}

PanelPicture curves_of(const SweepResults& results) {
  const Parameter& parameter = results.sweep.parameters[0];
  PanelPicture panel;
  panel.id = "curves";
  panel.title = "Virtual time over " + parameter.name;
  panel.x = {parameter.name, "", in_ratios(parameter.values)};
  double longest = 0;
  for (const SweepSeries& series : results.series) {
    for (const Outcome& outcome : series.outcomes) longest = std::max(longest, outcome.seconds);
  }
  const double scale = longest < 1e-3 ? 1e6 : longest < 1 ? 1e3 : 1;
  panel.y = {"virtual time", longest < 1e-3 ? "us" : longest < 1 ? "ms" : "s", false};
  for (const SweepSeries& series : results.series) {
    Curve curve{series.name, "", false, {}};
    for (std::size_t point = 0; point < parameter.values.size(); ++point) {
      if (!series.outcomes[point].reason.empty()) continue;
      curve.points.emplace_back(parameter.values[point], series.outcomes[point].seconds * scale);
    }
    panel.curves.push_back(std::move(curve));
  }
  panel.marks_name = "the fastest changes";
  for (const Crossing& crossing : crossings_of(results)) {
    if (crossing.of_best) panel.marks.push_back({crossing.value, {}, ""});
  }
  return panel;
}

std::string text_at(double x, double y, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\"{}>{}</text>\n", x, y,
                     more, escaped(text));
}

class Map {
 public:
  explicit Map(const SweepResults& results)
      : results_(results),
        rows_(results.sweep.parameters[0].values),
        columns_(results.sweep.parameters[1].values),
        left_(std::max(kLeftLeast,
                       kLetter * static_cast<int>(results.sweep.parameters[0].name.size()) + 12)) {
    for (std::size_t point = 0; point < results.sweep.points(); ++point) {
      const SweepSeries* const best = results.best_at(point);
      if (best == nullptr) continue;
      const double seconds = best->outcomes[point].seconds;
      least_ = any_ ? std::min(least_, seconds) : seconds;
      most_ = std::max(most_, seconds);
      any_ = true;
    }
  }

  std::string svg() const {
    const int width = left_ + kCellWidth * static_cast<int>(columns_.size()) + 10;
    const int height = kTop + kCellHeight * static_cast<int>(rows_.size()) + 10;
    std::string text = fmt::format(
        "<svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
        "style=\"max-width: {}px\" font-family=\"sans-serif\" font-size=\"12\">\n",
        width, height, width);
    text += text_at((left(0) + left(columns_.size())) / 2, 18, results_.sweep.parameters[1].name,
                    " font-weight=\"bold\"");
    text += text_at(left_ / 2.0, 42, results_.sweep.parameters[0].name, " font-weight=\"bold\"");
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      text += text_at(left(column) + kCellWidth / 2.0, 42, value_text(columns_[column]));
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      text += text_at(left_ / 2.0, top(row) + kCellHeight / 2.0 + 4, value_text(rows_[row]));
      for (std::size_t column = 0; column < columns_.size(); ++column) text += cell(row, column);
    }
    // Above all cells, as each would cover half of its lines.
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (std::size_t column = 0; column < columns_.size(); ++column) text += border(row, column);
    }
    return text + "</svg>\n";
  }

 private:
  double left(std::size_t column) const { return left_ + kCellWidth * static_cast<double>(column); }
  static double top(std::size_t row) { return kTop + kCellHeight * static_cast<double>(row); }
  std::size_t point(std::size_t row, std::size_t column) const {
    return row * columns_.size() + column;
  }

  // White for the shortest time, a medium grey-blue for the longest, equal ratios apart.
  std::string colour(double seconds) const {
    const double part =
        most_ <= least_ || least_ <= 0 ? 0 : std::log(seconds / least_) / std::log(most_ / least_);
    const auto mix = [part](int dark) {
      return static_cast<int>(std::lround(255 - part * (255 - dark)));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(130), mix(165), mix(205));
  }

  std::string cell(std::size_t row, std::size_t column) const {
    const SweepSeries* const best = results_.best_at(point(row, column));
    const double x = left(column);
    const double y = top(row);
    const std::string fill =
        best == nullptr ? "#eeeeee" : colour(best->outcomes[point(row, column)].seconds);
    std::string text = fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#cccccc\"/>\n", x,
        y, kCellWidth, kCellHeight, fill);
    const double middle = x + kCellWidth / 2.0;
    if (best == nullptr) return text + text_at(middle, y + kCellHeight / 2.0 + 4, "-");
    text += text_at(middle, y + 17, best->name, " font-weight=\"bold\"");
    return text + text_at(middle, y + 32, time_text(best->outcomes[point(row, column)].seconds));
  }

  // The lines to the right and below, where another series is the fastest.
  std::string border(std::size_t row, std::size_t column) const {
    const SweepSeries* const best = results_.best_at(point(row, column));
    const double x = left(column);
    const double y = top(row);
    std::string text;
    const auto line = [&](double x1, double y1, double x2, double y2) {
      text += fmt::format(
          "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#222222\" stroke-width=\"3\"/>\n",
          x1, y1, x2, y2);
    };
    if (column + 1 < columns_.size() && results_.best_at(point(row, column + 1)) != best) {
      line(x + kCellWidth, y, x + kCellWidth, y + kCellHeight);
    }
    if (row + 1 < rows_.size() && results_.best_at(point(row + 1, column)) != best) {
      line(x, y + kCellHeight, x + kCellWidth, y + kCellHeight);
    }
    return text;
  }

  const SweepResults& results_;
  const std::vector<double>& rows_;
  const std::vector<double>& columns_;
  int left_;  // where the cells begin
  bool any_ = false;
  double least_ = 0;
  double most_ = 0;
};

}  // namespace

std::string heat_map(const SweepResults& results) { return Map(results).svg(); }

Result<std::string> sweep_page(const SweepResults& results) {
  std::string body =
      fmt::format("<h1>Sweep: {}</h1>\n<p class=\"note\">Commit {}.</p>\n",
                  escaped(fmt::format("{}", fmt::join(results.program, " "))), escaped(kCommit));
  std::string caption;
  if (results.sweep.parameters.size() == 1) {
    const Result<std::vector<std::string>> drawn = draw({curves_of(results)});
    if (!drawn.ok()) return drawn.error();
    body += fmt::format("<figure class=\"wide\">\n{}\n", drawn.value()[0]);
    caption = "Virtual time of each implementation.";
  } else {
    body += fmt::format("<figure>\n{}\n", heat_map(results));
    caption =
        "The fastest implementation and its virtual time, lighter where that is shorter; a thick "
        "line where the fastest changes.";
  }
  body += fmt::format("<figcaption>{}</figcaption>\n</figure>\n<pre>{}</pre>\n", caption,
                      escaped(sweep_text(results)));
  return page("Fairlead sweep", body);
}

}  // namespace fairlead::tools
