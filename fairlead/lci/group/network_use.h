// How much of what the fabric does for groups and counters is left to it.
#pragma once
#include <cstdint>

namespace fairlead::lci {

enum class NetworkUse : std::uint8_t {
  all,
  counters,  // what waits for a counter, or bumps one of a single rank; nothing of groups
  nothing,
};

}  // namespace fairlead::lci
