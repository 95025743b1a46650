#include "tools/fairlead/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <utility>

#include "fairlead/base/check.h"
#include "tools/fairlead/report/html.h"

namespace fairlead::tools {

namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 ||
                           (cell.size() > 1 && cell[0] == '-' && cell[1] != '-'));
}

// Takes from `text` the words that fit `width`, at least one.
std::string first_part(std::string& text, std::size_t width) {
  if (text.size() <= width) return std::exchange(text, "");
  std::size_t end = text.rfind(' ', width);
  if (end == std::string::npos) end = text.find(' ');
  if (end == std::string::npos) return std::exchange(text, "");
  std::string part = text.substr(0, end);
  text.erase(0, text.find_first_not_of(' ', end));
  return part;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  FAIRLEAD_CHECK(cells.size() == rows_[0].size(), "{} cells", cells.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> found(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) found[c] = std::max(found[c], row[c].size());
  }
  return found;
}

std::string Table::text() const { return text_of(widths()); }

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> narrow = widths();
  const auto total = [&] {
    return std::accumulate(narrow.begin(), narrow.end(), 2 * (narrow.size() - 1));
  };
  // Narrower than this a column is no help.
  constexpr std::size_t kNarrowest = 12;
  while (total() > width) {
    std::size_t& widest = *std::max_element(narrow.begin(), narrow.end());
    if (widest <= kNarrowest) break;
    --widest;
  }
  return text_of(std::move(narrow));
}

std::vector<bool> Table::numeric_columns() const {
  std::vector<bool> numeric(rows_[0].size(), rows_.size() > 1);
  for (std::size_t r = 1; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < numeric.size(); ++c) {
      if (!is_number(rows_[r][c]) && rows_[r][c] != "-") numeric[c] = false;
    }
  }
  return numeric;
}

namespace {

// Escaped, and no line begins with the unit of the number before it.
std::string cell_html(const std::string& text) {
  std::string html = escaped(text);
  for (std::size_t at = 0; (at = html.find(" %", at)) != std::string::npos;) {
    html.replace(at, 1, "&nbsp;");
  }
  return html;
}

}  // namespace

std::string Table::html() const {
  const std::vector<bool> numeric = numeric_columns();
  std::string text = "<table class=\"cells\">\n";
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const char* const cell = r == 0 ? "th" : "td";
    text += r == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t c = 0; c < numeric.size(); ++c) {
      text += fmt::format("<{0}{1}>{2}</{0}>", cell, numeric[c] ? "" : " class=\"text\"",
                          cell_html(rows_[r][c]));
    }
    text += r == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

std::string Table::text_of(std::vector<std::size_t> widths) const {
  const std::size_t columns = rows_[0].size();
  const std::vector<bool> numeric = numeric_columns();
  std::string text;
  for (std::vector<std::string> rest : rows_) {
    bool more = true;
    while (std::exchange(more, false)) {
      std::string line;
      for (std::size_t c = 0; c < columns; ++c) {
        const std::string part = first_part(rest[c], widths[c]);
        more = more || !rest[c].empty();
        if (c > 0) line += "  ";
        line += numeric[c] ? fmt::format("{:>{}}", part, widths[c])
                           : fmt::format("{:<{}}", part, widths[c]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

std::string show_number(double value) {
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(3 - magnitude, 0, 9));
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{} us", show_number(seconds * 1e6));
  if (seconds < 1) return fmt::format("{} ms", show_number(seconds * 1e3));
  return fmt::format("{} s", show_number(seconds));
}

}  // namespace fairlead::tools
