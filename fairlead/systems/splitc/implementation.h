// Which implementation of Split-C a job has, as its user chose: `fairlead run --splitc NAME`. The
// same on every rank.
#pragma once
#include <array>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::splitc {

enum class Implementation : std::uint8_t {
  direct,  // on the Port: loads and stores where memory is mapped, its calls elsewhere
};

constexpr const char kImplementationVariable[] = "FAIRLEAD_SPLITC";
inline constexpr std::array kImplementationNames = {"direct"};

// Reads the variable's text; empty: direct. Error: no such name, with those there are.
inline Result<Implementation> implementation_of(const std::string& text) {
  if (text.empty() || text == kImplementationNames[0]) return Implementation::direct;
  std::string names;
  for (const char* const name : kImplementationNames) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return Error{"there is no Split-C implementation '" + text + "'; there are: " + names};
}

}  // namespace fairlead::splitc
