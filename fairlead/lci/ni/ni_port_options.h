// What a NiPort is told of its rank, its network and its NI.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/lci/ni/host_flow.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

struct NiPortOptions {
  Rank self;
  Rank size;
  std::uint32_t mtu_bytes;
  // Send buffers kept for replies, so that they always drain.
  std::uint32_t reply_reserve = 8;
  // False: what the client declares (Port::charge) takes no time.
  bool work_takes_time = true;
  // Multicast packets of group 0 go on from NI to NI; of other groups, whose trees together could
  // deadlock (proto/multicast_tree.h), and where this is false the hosts pass them on.
  bool ni_forwards = true;
  proto::TreeShape tree = proto::TreeShape::binary;
  // Packets a client may keep before further ones are copied out of the NI's view.
  std::uint32_t kept_max = 48;
  // What Port::allocate may give in all, where there is no `region`.
  std::uint32_t memory_mib = 1024;
  std::uint64_t flags = kInterrupt;  // CapFlag
  std::uint32_t rails = 1;           // to ranks of other nodes
  // Where the host runs the reliability scheme.
  Lost lost;
  // Memory of this rank that its NI reaches too, zero at the start: what is allocated lies there,
  // and so does the table of what is exposed. Empty: the NI reaches none.
  std::span<std::byte> region{};
  // Words of the NI that its answers to puts, gets and queries reach by themselves.
  std::span<std::byte> ni_words{};
  // The NI takes this rank's part in queries of groups, from its region (Port::query).
  bool queries_below = false;
};

}  // namespace fairlead::lci
