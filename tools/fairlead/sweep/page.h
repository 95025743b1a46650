// A sweep as a page of its own: curves of one number, a map of two.
#pragma once
#include <string>

#include "fairlead/base/result.h"
#include "tools/fairlead/sweep/results.h"

namespace fairlead::tools {

// A whole HTML document, without script and network. Error: gnuplot, which draws curves, is missing
// or failed.
Result<std::string> sweep_page(const SweepResults& results);

// The map of two numbers, an SVG element: a cell a point with the name of the fastest series and
// its time, lighter where that is shorter, and a thick line where the fastest changes.
std::string heat_map(const SweepResults& results);

}  // namespace fairlead::tools
