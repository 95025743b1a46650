// Results as tables for people.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "tools/fairlead/reproduce/results.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

std::string published_text(const Cell& cell) {
  if (cell.published == nullptr) return "-";
  const std::string value = fmt::format("{}", cell.published->value);
  switch (cell.published->relation) {
    case Relation::equal:
      return value;
    case Relation::about:
      return "about " + value;
    case Relation::below:
      return "below " + value;
  }
  return value;
}

// What stands in place of an error where there is none.
std::string verdict(const Cell& cell) {
  if (cell.status != Status::measured) return name_of(cell.status);
  if (!cell.ours) return cell.reason;
  if (cell.published->relation == Relation::below) {
    return *cell.ours < cell.published->value ? "holds" : "does not hold";
  }
  return fmt::format("{:+.1f} %", *cell.error_percent());
}

std::string cells_text(const std::vector<Cell>& cells) {
  if (cells.empty()) return "";
  Table table({"row", "column", "ours", "published", "unit", "error", "source"});
  for (const Cell& cell : cells) {
    table.add({cell.plan.row, cell.plan.column, cell.ours ? show_number(*cell.ours) : "-",
               published_text(cell), cell.plan.unit, verdict(cell),
               cell.published != nullptr ? cell.source : "-"});
  }
  return table.text() + "\n";
}

// Sizes and numbers of nodes are whole; times are not.
std::string x_text(double x) {
  return x == std::floor(x) ? fmt::format("{:.0f}", x) : show_number(x);
}

std::string panel_text(const Panel& panel) {
  std::vector<std::string> headings = {panel.plan.x.unit};
  std::set<double> sizes;
  for (const Series& series : panel.series) {
    headings.push_back(series.status == Status::measured
                           ? series.plan.name
                           : fmt::format("{} ({})", series.plan.name, name_of(series.status)));
    for (const auto& [x, y] : series.points) sizes.insert(x);
  }
  Table table(headings);
  for (const double size : sizes) {
    std::vector<std::string> row = {x_text(size)};
    for (const Series& series : panel.series) {
      std::string cell = "-";
      for (const auto& [x, y] : series.points) {
        if (x == size) cell = show_number(y);
      }
      row.push_back(cell);
    }
    table.add(row);
  }
  return fmt::format("{}, {} in {}\n{}\n", panel.plan.title, panel.plan.y.label, panel.plan.y.unit,
                     table.text());
}

std::string statements_text(const std::vector<Statement>& statements) {
  std::string text;
  for (const Statement& one : statements) {
    const char* verdict = !one.holds ? "?  " : *one.holds ? "yes" : "NO ";
    text += fmt::format("{}  {} ({})\n", verdict, one.text, one.source);
    if (one.holds && !*one.holds) text += fmt::format("     {}\n", one.detail);
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string text_of(const StudyResult& result) {
  std::string text = fmt::format("{}/{}: {}\n\n{}", result.paper->id, result.id, result.title,
                                 cells_text(result.cells));
  for (const Panel& panel : result.panels) text += panel_text(panel);
  return text + statements_text(result.statements);
}

}  // namespace fairlead::tools
