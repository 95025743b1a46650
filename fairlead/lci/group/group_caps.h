// What networks have that reach several ranks with one packet: one more CapFlag (port.h), and how
// much of it is used.
#pragma once
#include <cstdint>

#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Puts to and queries of groups of consecutive ranks are the network's: one packet reaches all
// members, and its answers come back as one.
constexpr std::uint64_t kContiguousGroups = 32768;
static_assert(kContiguousGroups > kRawPuts, "one bit for each flag of Caps");

// How much of what the fabric does for groups and counters is left to it.
enum class NetworkUse : std::uint8_t {
  all,
  counters,  // what waits for a counter, or bumps one of a single rank; nothing of groups
  nothing,
};

}  // namespace fairlead::lci
