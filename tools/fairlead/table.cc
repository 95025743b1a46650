#include "tools/fairlead/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "fairlead/base/check.h"

namespace fairlead::tools {

namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 ||
                           (cell.size() > 1 && cell[0] == '-' && cell[1] != '-'));
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  FAIRLEAD_CHECK(cells.size() == rows_[0].size(), "{} cells", cells.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  const std::size_t columns = rows_[0].size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, rows_.size() > 1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], rows_[r][c].size());
      if (r > 0 && !is_number(rows_[r][c]) && rows_[r][c] != "-") numeric[c] = false;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      if (c > 0) line += "  ";
      line += numeric[c] ? fmt::format("{:>{}}", row[c], widths[c])
                         : fmt::format("{:<{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
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
