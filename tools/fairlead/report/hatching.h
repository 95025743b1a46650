// Fills of bars that are told apart by hatching and lightness as well as by colour: on paper, and
// without colour.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace fairlead::tools {

// A <defs> element with a pattern for each colour ("#rrggbb"), of which a document may have several
// with different prefixes.
std::string hatching_defs(const std::string& prefix, const std::vector<std::string>& colours);
// What a shape's `fill` is for the colour of that number.
std::string hatching_fill(const std::string& prefix, std::size_t number);

}  // namespace fairlead::tools
