// The implementations of the low-level interface that a place carries, the default first.
#pragma once
#include <string>
#include <vector>

namespace fairlead::tools {

std::vector<std::string> implementations_on(const std::string& on);

// What runs where --lci says nothing, for results that stand alone.
inline std::string implementation_used(const std::string& on, const std::string& lci) {
  return lci.empty() ? implementations_on(on).front() : lci;
}

}  // namespace fairlead::tools
