// A table or figure of a paper as what has to be measured for it and how its numbers follow.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/fairlead/reproduce/measurement.h"

namespace fairlead::tools {

// A number that follows from measurements, all of which came out when it is asked for; nothing
// where they do not have it (curves that do not cross).
struct Quantity {
  std::string label;  // "I-sdma"
  std::vector<Measurement> needs;
  std::function<std::optional<double>(std::span<const Measured* const>)> value;
};

// Where a published value of a cell is drawn in a panel.
struct MarkPlan {
  enum class Kind { none, point, level, place };

  Kind kind = Kind::none;  // level: a height; place: a spot on the x axis
  std::string panel;
  double x = 0;  // of a point
};

struct CellPlan {
  std::string row;
  std::string column;
  std::string unit;
  Quantity ours;
  MarkPlan mark;
};

struct Axis {
  std::string label;
  std::string unit;
  bool logarithmic = false;
};

// A point that has a measurement of its own, of one line: a number of nodes.
struct PointPlan {
  double x = 0;
  Measurement measurement;
};

struct SeriesPlan {
  std::string name;
  Measurement measurement;
  std::string key;                     // of the bench's lines, as Measured::points() has them
  bool baseline = false;               // beside the implementations for comparison only
  std::vector<PointPlan> points = {};  // not empty: instead of `measurement`, which is the first's
};

// A curve over such points, of which there is one at least.
SeriesPlan series_over(std::string name, std::vector<PointPlan> points, std::string key);

struct PanelPlan {
  std::string id;
  std::string title;
  Axis x;
  Axis y;
  std::vector<SeriesPlan> series;
};

// low <= high * slack.
struct Order {
  Quantity low;
  Quantity high;
  double slack = 1;
};

// What the paper says in words: holds if every order does.
struct StatementPlan {
  std::string text;
  std::string source;
  std::vector<Order> orders;
};

struct Study {
  std::string id;  // "table3", within its paper
  std::string title;
  bool figure = false;
  std::vector<CellPlan> cells;
  std::vector<PanelPlan> panels;
  std::vector<StatementPlan> statements;
};

void add_cell(Study& study, std::string row, std::string column, std::string unit, Quantity ours);

// A machine of a paper: its platform file, and what the paper calls it.
struct PaperPlatform {
  const char* name;
  const char* label;
};

// --- Quantities.
Quantity figure_of(const std::string& label, const Measurement& measurement,
                   const std::string& key);
Quantity figure_at(const std::string& label, const Measurement& measurement, const std::string& key,
                   std::uint64_t size);
Quantity peak_of(const std::string& label, const Measurement& measurement, const std::string& key);
// The size from which `rising` is above `other`, between two sizes by straight lines.
Quantity crossover_of(const Measurement& rising, const Measurement& other, const std::string& key);
// A value that is measured nowhere.
Quantity constant(const std::string& label, double value);
// a - b.
Quantity difference_of(const std::string& label, const Quantity& a, const Quantity& b);
// a / b.
Quantity ratio_of(const std::string& label, const Quantity& a, const Quantity& b);

}  // namespace fairlead::tools
