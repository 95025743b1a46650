// The header every fabric carries in front of a payload. Fabrics move it whole and look only at
// the routing part; its other fields belong to lci and the proto parts composed there.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

enum class PacketKind : std::uint8_t {
  data,             // a client packet for dest_rank
  multicast,        // a client packet for every member of group `dest_rank`
  ack,              // carries credits or an acknowledgment only
  fetch_add,        // request to the NI-resident word (paper section 4.3)
  fetch_add_reply,  //
  count             // not a kind
};

// The client's part: what an Arrival is made from. 32 bytes, so that with 32 bytes of payload it
// fills one cache line of the shared-memory ring.
struct ClientHeader {
  PacketKind kind;
  std::uint8_t lane;
  std::uint16_t chan;
  Rank source;
  std::uint32_t size;   // payload bytes
  std::uint32_t stamp;  // the fabric's own: a ring's valid flag; zero on the wire
  std::uint32_t words[4];
};
static_assert(sizeof(ClientHeader) == 32 && std::is_trivially_copyable_v<ClientHeader>);

// The whole header of a packet that crosses a network.
struct PacketHeader {
  ClientHeader client;
  std::uint32_t dest_rank;  // several ranks share one NI; group id for multicast
  std::uint32_t sequence;   // of the (source, destination) pair, for gap detection and go-back-N
  std::uint32_t ack;        // piggybacked: credits returned, or next expected sequence
  std::uint32_t job;        // low half of the job's nonce; packets of another job are dropped
};
static_assert(sizeof(PacketHeader) == 48 && std::is_trivially_copyable_v<PacketHeader>);

}  // namespace fairlead::fabric
