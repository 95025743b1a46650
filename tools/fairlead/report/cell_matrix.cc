#include "tools/fairlead/report/cell_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "tools/fairlead/report/html.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {
namespace {

constexpr std::size_t kColumnsMax = 6;  // that fit a page beside the names
constexpr double kGood = 8;             // per cent

std::string published_text(const Json& cell) {
  const auto published = number_at(cell, "published");
  if (!published) return {};
  const std::string relation = text_at(cell, "relation");
  return (relation == "=" ? "" : relation) + show_number(*published);
}

// The names in the order in which they first stand.
class Names {
 public:
  std::size_t place_of(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }
  std::size_t size() const { return names_.size(); }
  const std::string& operator[](std::size_t place) const { return names_[place]; }

 private:
  std::vector<std::string> names_;
};

// What a cell is the value of, in up to three names.
struct Named {
  std::string quantity;
  std::string platform;  // empty: its column names none
  std::string of;        // "I-sdma"; empty: nothing beside the platform
};

Named named(const Json& cell, const std::vector<std::string>& platforms) {
  const std::string column = text_at(cell, "column");
  for (const std::string& platform : platforms) {
    if (column == platform) return {text_at(cell, "row"), platform, ""};
    if (column.starts_with(platform + " ")) {
      return {text_at(cell, "row"), platform, column.substr(platform.size() + 1)};
    }
  }
  return {text_at(cell, "row"), "", column};
}

struct Matrix {
  std::string corner;  // what all cells are the values of; empty: the rows or columns say so
  Names rows;
  Names columns;
  std::map<std::pair<std::size_t, std::size_t>, const Json*> cells;  // by row and column
  bool clashes = false;                                              // two cells have one place
};

Matrix matrix_of(const Json& cells, const std::vector<std::string>& platforms) {
  Matrix matrix;
  Names quantities;
  for (const Json& cell : cells) (void)quantities.place_of(named(cell, platforms).quantity);
  const bool one_quantity = quantities.size() == 1;
  for (const Json& cell : cells) {
    const Named name = named(cell, platforms);
    std::string row = name.quantity;
    std::string column = name.platform.empty() ? name.of : name.platform;
    if (!name.platform.empty() && !name.of.empty()) {
      row = name.of;
      if (one_quantity) {
        matrix.corner = name.quantity;
      } else {
        column = name.quantity + ", " + name.platform;
      }
    }
    const auto [at, is_new] = matrix.cells.emplace(
        std::pair(matrix.rows.place_of(row), matrix.columns.place_of(column)), &cell);
    matrix.clashes = matrix.clashes || !is_new;
  }
  return matrix;
}

bool fits(const Matrix& matrix) {
  const std::size_t places = matrix.rows.size() * matrix.columns.size();
  return !matrix.clashes && matrix.rows.size() > 1 && matrix.columns.size() > 1 &&
         matrix.columns.size() <= kColumnsMax && 2 * matrix.cells.size() > places;
}

std::string matrix_html(const Matrix& matrix) {
  std::string html =
      fmt::format("<table class=\"matrix\"><thead><tr><th>{}</th>", escaped(matrix.corner));
  for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
    html += fmt::format("<th>{}</th>", escaped(matrix.columns[c]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    html += fmt::format("<tr><td>{}</td>", escaped(matrix.rows[r]));
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const auto found = matrix.cells.find({r, c});
      if (found == matrix.cells.end()) {
        html += "<td></td>";
        continue;
      }
      const Json& cell = *found->second;
      html += fmt::format("<td>{}</td>", cell_html(cell, text_at(cell, "unit")));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

std::string list_html(const Json& cells) {
  std::string html =
      "<table><thead><tr><th>of the text</th><th></th><th>ours (published)</th></tr>"
      "</thead>\n<tbody>\n";
  for (const Json& cell : cells) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"whole\">{}</td></tr>\n",
                        escaped(text_at(cell, "row")), escaped(text_at(cell, "column")),
                        cell_html(cell, text_at(cell, "unit")));
  }
  return html + "</tbody></table>\n";
}

}  // namespace

std::string cell_html(const Json& cell, const std::string& unit) {
  const auto ours = number_at(cell, "ours");
  const std::string status = text_at(cell, "status");
  if (!ours) {
    const std::string why = text_at(cell, "reason");
    return fmt::format("<span class=\"off\" title=\"{}\">{}</span>", escaped(why), escaped(status));
  }
  std::string html = escaped(show_number(*ours) + (unit.empty() ? "" : " " + unit));
  const std::string published = published_text(cell);
  if (published.empty()) return html + " <span class=\"note\">predicted</span>";
  html += fmt::format(" <span class=\"note whole\">({}", escaped(published));
  if (const auto error = number_at(cell, "error_percent")) {
    html += fmt::format(", <span class=\"{}\">{:+.1f} %</span>",
                        std::abs(*error) <= kGood ? "good" : "bad", *error);
  }
  return html + ")</span>";
}

std::string cells_html(const Json& cells, const std::vector<std::string>& platforms) {
  if (cells.empty()) return {};
  const Matrix matrix = matrix_of(cells, platforms);
  return fits(matrix) ? matrix_html(matrix) : list_html(cells);
}

}  // namespace fairlead::tools
