// What the parts of an RDMA machine are told by its platform file: the two one-way lanes between
// host and network interface, the interface itself, and the library's steps on the host.
#pragma once
#include <cstdint>

#include "fairlead/base/units.h"

namespace fairlead::hw {

// [lanes]: a serial host path, as PCI Express has it.
struct HostLanesParams {
  BytesPerSec rate{};                // of each lane, one way
  std::uint64_t payload_bytes = 0;   // most that one of its packets carries
  std::uint64_t overhead_bytes = 0;  // header, check and framing of each packet
  Ps latency{};                      // one way, bridge included
  Ps memory_read{};                  // from a read's request at the host to its first byte
  Ps store_line{};                   // processor time of one programmed line
  std::uint64_t store_line_bytes = 0;
};

// [ni]
struct RdmaNiParams {
  Ps work_entry{};                     // the send engine takes up one work queue entry
  Ps packet{};                         // either unit, for one packet
  Ps translate{};                      // the responder looks up a key
  Ps atomic{};                         // and changes a word that it has read
  std::uint32_t mtu_bytes = 0;         // payload of one packet on the wire
  std::uint32_t inline_bytes = 0;      // payload written with its entry, at most
  std::uint32_t entry_bytes = 0;       // a work queue entry
  std::uint32_t completion_bytes = 0;  // a completion queue entry
  std::uint32_t send_queue = 0;        // entries per peer and lane
  std::uint32_t receive_queue = 0;     // buffers per peer and lane
  std::uint32_t signal_every = 0;      // sends from one completion to the next
  std::uint32_t reads_ahead = 0;       // host reads that one queue has under way
  std::uint32_t copies = 0;            // copies and atomic operations of a host under way
};

// [library]: cycles of the host's processor.
struct RdmaLibraryParams {
  Cycles post{};        // builds a work queue entry
  Cycles poll{};        // looks at a completion queue
  Cycles receive{};     // takes one packet up, until its upcall
  Cycles completion{};  // takes one completion up
};

struct RdmaParams {
  HostLanesParams lanes;
  RdmaNiParams ni;
  RdmaLibraryParams library;
};

}  // namespace fairlead::hw
