// The values that a swept number takes: an option's number written as a range or a list.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// More values of one number than this are refused.
inline constexpr std::size_t kSweepValuesMax = 10'000;

// Whether a text names several values: "33..266:8" or "33,66,133".
bool is_several(std::string_view text);

// "33..266:8": so many values, evenly apart, both ends among them; "33..266:8log": in equal ratios.
// "33,66,133": these. "66": the one. In rising order, none twice. Error: what is wrong with it and
// how it is written; `name` is the option with what it is about, for example "--set ni.clock_MHz".
Result<std::vector<double>> read_values(const std::string& name, std::string_view text);

// The shortest decimal text of a value, as an option takes it: "33", "0.015".
std::string value_text(double value);

}  // namespace fairlead::tools
