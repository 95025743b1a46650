// The header every fabric carries in front of a payload. Fabrics move it whole and look only at
// the routing part; its other fields belong to lci and the proto parts composed there.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

enum class PacketKind : std::uint8_t {
  data,             // a client packet for dest_rank
  multicast,        // a client packet for every member of group `dest_rank`
  ack,              // carries credits or an acknowledgment only
  fetch_add,        // request to the NI-resident word (paper section 4.3)
  fetch_add_reply,  //
  resend,         // asks for everything not acknowledged: the receiver had to drop for lack of room
  page_transfer,  // part of a remote-memory copy (paper section 5.2.3)
  tlb_write,      // not sent: what a host writes into its NI's TLB
  frame,          // client packets, joined (lci/reliable/reliable_nic.h)
  copy_piece,     // bytes between two memories (lci/reliable/frame_copies.h)
  count           // not a kind
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

// The four words as one value: a store as wide as the load that follows it. Narrower stores would
// hold that load up until every older one, to memory the peer has in its cache, has left the store
// buffer.
using WordVector [[gnu::vector_size(16)]] = std::uint32_t;

// The first 8 bytes of a ClientHeader as one value, for the same reason.
constexpr std::uint64_t route_of(PacketKind kind, std::uint32_t lane, std::uint16_t chan,
                                 Rank source) {
  static_assert(std::endian::native == std::endian::little);
  static_assert(offsetof(ClientHeader, lane) == 1 && offsetof(ClientHeader, chan) == 2 &&
                offsetof(ClientHeader, source) == 4 && offsetof(ClientHeader, size) == 8 &&
                offsetof(ClientHeader, stamp) == 12);
  return static_cast<std::uint64_t>(kind) | std::uint64_t{lane} << 8 | std::uint64_t{chan} << 16 |
         std::uint64_t{source} << 32;
}
// All of a route but the channel.
constexpr std::uint64_t kRouteWithoutChannel = ~(std::uint64_t{0xffff} << 16);
constexpr std::uint32_t lane_of(std::uint64_t route) {
  return static_cast<std::uint32_t>(route >> 8) & 0xffu;
}

inline ClientHeader make_client_header(std::uint64_t route, WordVector words, std::size_t size) {
  ClientHeader header;
  const std::uint64_t length = static_cast<std::uint32_t>(size);
  std::memcpy(static_cast<void*>(&header), &route, sizeof route);
  std::memcpy(&header.size, &length, sizeof length);
  std::memcpy(header.words, &words, sizeof words);
  return header;
}

// The whole header of a packet that crosses a network.
struct PacketHeader {
  ClientHeader client;
  std::uint32_t dest_rank;  // several ranks share one NI; group id for multicast
  std::uint32_t sequence;   // of the (source, destination) pair, for gap detection and go-back-N
  std::uint32_t ack;        // piggybacked: credits returned, or next expected sequence; of a
                            // direct composition: kSolicitedMark and the like
  std::uint32_t job;        // low half of the job's nonce; packets of another job are dropped
};
// The packet asks for the receiver's processor (lci::kSolicited), and at once (kUrgent); another
// packet began its message (kPart).
constexpr std::uint32_t kSolicitedMark = 1;
constexpr std::uint32_t kUrgentMark = 2;
constexpr std::uint32_t kPartMark = 4;
static_assert(sizeof(PacketHeader) == 48 && std::is_trivially_copyable_v<PacketHeader>);

}  // namespace fairlead::fabric
