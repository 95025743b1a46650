// One more CapFlag (port.h), of networks that reach several ranks with one packet.
#pragma once
#include <cstdint>

#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Puts to and queries of groups of consecutive ranks are the network's: one packet reaches all
// members, and its answers come back as one.
constexpr std::uint64_t kContiguousGroups = 16384;

}  // namespace fairlead::lci
