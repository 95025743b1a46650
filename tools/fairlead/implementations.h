// The implementations of the low-level interface that a place carries.
#pragma once
#include <string>
#include <vector>

namespace fairlead::tools {

std::vector<std::string> implementations_on(const std::string& on);

}  // namespace fairlead::tools
