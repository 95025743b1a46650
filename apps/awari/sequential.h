// The databases made by one processor that looks forward only: what --verify compares with.
#pragma once
#include <vector>

#include "apps/awari/analysis.h"

namespace awari {

// By number of stones, up to `stones`.
std::vector<Values> analyse_alone(const Numbering& numbering, int stones);

}  // namespace awari
