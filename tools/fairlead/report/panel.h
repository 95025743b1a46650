// A panel of a figure: its curves, the picture that gnuplot makes of them, and the sentence that
// they support.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/report/results_document.h"

namespace fairlead::tools {

struct Curve {
  std::string name;
  std::string status;
  bool baseline = false;
  std::vector<std::pair<double, double>> points;  // x rises
};

struct Axis {
  std::string label;
  std::string unit;
  bool logarithmic = false;
};

struct PanelPicture {
  std::string id;
  std::string title;
  Axis x;
  Axis y;
  std::vector<Curve> curves;
  struct Mark {
    std::optional<double> x;
    std::optional<double> y;
    std::string label;
  };
  std::vector<Mark> marks;
  std::string marks_name = "published";  // in the legend

  bool drawable() const;  // some curve has points
};

PanelPicture panel_of(const Json& json);

// From the data alone: which curve is best, by how much, where two cross.
std::string sentence_of(const PanelPicture& panel);

// The panels' SVG elements, in their order; empty for one without points. Runs gnuplot once per
// panel. Error: gnuplot is missing or fails.
Result<std::vector<std::string>> draw(const std::vector<PanelPicture>& panels);

}  // namespace fairlead::tools
