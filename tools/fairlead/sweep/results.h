// What a sweep found, and how it reads: who is fastest where, and at which value that changes.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "tools/fairlead/comparison.h"
#include "tools/fairlead/sweep/parameter.h"

namespace fairlead::tools {

// One implementation on one platform, over all points. `outcomes[i]` is that of point i.
struct SweepSeries {
  std::string name;  // "pio", with several platforms "myrinet-p3 pio"
  Combination combination;
  std::vector<Outcome> outcomes;
};

struct SweepResults {
  const Sweep& sweep;
  std::vector<std::string> program;
  std::vector<SweepSeries> series;

  // The fastest series at a point; of equal ones the first. nullptr: no run there came to its end.
  const SweepSeries* best_at(std::size_t point) const;
};

// Between two neighbouring values of a parameter, with the other one (if there is one) as it is:
// the value at which two series take the same time, by straight lines between the runs.
struct Crossing {
  std::size_t parameter;  // which one changes
  double value;
  double from;  // the values it lies between
  double to;
  std::string below;  // the series that is faster below the value
  std::string above;
  bool of_best;                // nobody is faster than these two there
  std::vector<double> others;  // the other parameter's value; empty: there is none
};
// In the order of the points.
std::vector<Crossing> crossings_of(const SweepResults& results);

// A table, a row a value (of two parameters: a row and a column a value, who is fastest in the
// cells), and a sentence a change of the fastest.
std::string sweep_text(const SweepResults& results);
// One JSON object a line: "run" lines, then "crossing" lines (docs/results-format.md).
std::string sweep_json(const SweepResults& results);

}  // namespace fairlead::tools
