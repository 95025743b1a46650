// Which implementation of Split-C a job has, as its user chose: `fairlead run --splitc NAME`. The
// same on every rank.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::splitc {

enum class Implementation : std::uint8_t {
  direct,          // on the Port: loads and stores where memory is mapped, its calls elsewhere
  amvia,           // over Active Messages on virtual interfaces (Split-C paper, section 5.2)
  amvia_shm,       // as amvia; within a node by mapped memory (section 5.3)
  via,             // over virtual interfaces (section 5.4)
  via_unreliable,  // over unreliable ones (section 5.5)
};

constexpr const char kImplementationVariable[] = "FAIRLEAD_SPLITC";
inline constexpr std::array kImplementationNames = {"direct", "amvia", "amvia-shm", "via",
                                                    "via-unreliable"};

// Reads the variable's text; empty: direct. Error: no such name, with those there are.
inline Result<Implementation> implementation_of(const std::string& text) {
  if (text.empty()) return Implementation::direct;
  std::string names;
  for (std::size_t i = 0; i < kImplementationNames.size(); ++i) {
    if (text == kImplementationNames[i]) return static_cast<Implementation>(i);
    if (i > 0) names += ", ";
    names += kImplementationNames[i];
  }
  return Error{"there is no Split-C implementation '" + text + "'; there are: " + names};
}

}  // namespace fairlead::splitc
