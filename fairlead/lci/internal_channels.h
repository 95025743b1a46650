// Channels of lci itself, above kClientChannels; the parts that use them bind them on any Port.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead::lci {

enum InternalChan : Chan {
  kPutChan = kClientChannels,
  kGetChan,
  kGetReplyChan,
  kAtomicChan,
  kFenceChan,
  kWordReplyChan,  // answers to atomics and fences
  kBumpChan,       // a put's remote counter
  kQueryChan,      // conditions that are to hold on every member of a group
  kGroupChan,
  kGroupAckChan,
  kKeyAskChan,     // for a key to memory that the fabric copies from and to
  kKeyChan,        // such a key
  kKeyGoneChan,    // it is worth nothing any more
  kGroupNameChan,  // a host's groups, told to the interface that answers its queries
};

// What lci itself puts before a client's bytes, at most: a port's mtu is its fabric's less this.
constexpr std::uint32_t kPrefixBytes = 32;

}  // namespace fairlead::lci
