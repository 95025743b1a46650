// Which implementation of Active Messages a job has, as its user chose: `fairlead run --am NAME`.
// Every rank of a job has it alike.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::am {

enum class Implementation : std::uint8_t {
  direct,  // in packets of the Port; any reply to any request
  amvia,   // over virtual interfaces (Split-C paper, section 4); a reply has its request's form
};

constexpr const char kImplementationVariable[] = "FAIRLEAD_AM";
inline constexpr std::array kImplementationNames = {"direct", "amvia"};

// Reads the variable's text; empty: direct. Error: no such name, with those there are.
inline Result<Implementation> implementation_of(const std::string& text) {
  if (text.empty()) return Implementation::direct;
  std::string names;
  for (std::size_t i = 0; i < kImplementationNames.size(); ++i) {
    if (text == kImplementationNames[i]) return static_cast<Implementation>(i);
    if (i > 0) names += ", ";
    names += kImplementationNames[i];
  }
  return Error{"there is no implementation '" + text + "' of Active Messages; there are: " + names};
}

}  // namespace fairlead::am
