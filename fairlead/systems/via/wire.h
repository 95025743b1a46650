// What VIs send each other in packets of the Port. Data of requests travels on Lane::request, what
// answers it on Lane::reply. Set-up travels on a channel of its own, on the lanes alike, so that it
// is in order with data. What comes from another rank is believed as far as it was looked up.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/run/names.h"

namespace fairlead::via {

constexpr run::Names kNames = run::names_of(run::System::via);
constexpr lci::Chan kDataChan = kNames.channels[0];
constexpr lci::Chan kControlChan = kNames.channels[1];
constexpr lci::Chan kToldChan = kNames.channels[2];  // by this rank's network interface

// send, write, read: a piece of a message, or a whole one. read_data: a piece of what was read.
// done: a message of a VI of level 4 is in memory; where a network interface says so of a write, it
// has immediate data, the write's number. broken: the connection is; `offset` has the
// status of the message that broke it, or 0.
enum class DataKind : std::uint8_t { send, write, read, read_data, done, broken };
constexpr std::uint32_t kDataKinds = 6;

// A VI of another rank: its place there, and which of its connections.
struct ViName {
  std::uint16_t vi = 0;
  std::uint8_t connection = 0;
};

// The four words of a data packet.
struct DataHead {
  DataKind kind = DataKind::send;
  bool has_immediate = false;
  ViName to;
  std::uint32_t offset = 0;     // of the piece; below 2^24
  std::uint32_t bytes = 0;      // of the message; below 2^24
  std::uint16_t sequence = 0;   // of the message, from 0 at the connection; wraps
  std::uint32_t immediate = 0;  // of read and read_data: which read
};
constexpr std::uint32_t kSizeMask = (1u << 24) - 1;

// Before each piece of a write, and the whole of a read's packet; where network interfaces move
// them, lci::RdmaHead is in its place.
struct RemotePlace {
  std::uint64_t address;
  std::uint32_t memory;
  std::uint32_t unused;
};
static_assert(sizeof(RemotePlace) == 16);

inline void encode(const DataHead& head, lci::Words& words) {
  words[0] = std::uint32_t{head.to.vi} | std::uint32_t{head.to.connection} << 16 |
             static_cast<std::uint32_t>(head.kind) << 24 | (head.has_immediate ? 1u << 31 : 0u);
  words[1] = head.offset | std::uint32_t{head.sequence} << 24;
  words[2] = head.bytes | (std::uint32_t{head.sequence} >> 8) << 24;
  words[3] = head.immediate;
}
// False: no data packet looks so.
inline bool decode(const std::uint32_t (&words)[4], DataHead& head) {
  const std::uint32_t kind = words[0] >> 24 & 0x7f;
  if (kind >= kDataKinds) return false;
  head.kind = static_cast<DataKind>(kind);
  head.has_immediate = words[0] >> 31 != 0;
  head.to = {static_cast<std::uint16_t>(words[0]), static_cast<std::uint8_t>(words[0] >> 16)};
  head.offset = words[1] & kSizeMask;
  head.bytes = words[2] & kSizeMask;
  head.sequence = static_cast<std::uint16_t>(words[1] >> 24 | (words[2] >> 24) << 8);
  head.immediate = words[3];
  return true;
}

// request, peer: a VI asks for a connection (client and server; peer to peer). accept, refuse: the
// answers to a request. cancel: it does not wait any more. disconnect: a connection has ended.
enum class ControlKind : std::uint8_t { request, peer, accept, refuse, cancel, disconnect };
constexpr std::uint32_t kControlKinds = 6;
constexpr std::uint8_t kRepeated = 4;  // of Control::rdma

constexpr std::size_t kDiscriminatorMax = 64;  // bytes

struct Discriminator {
  std::uint16_t bytes = 0;
  std::uint8_t text[kDiscriminatorMax] = {};

  friend bool operator==(const Discriminator& a, const Discriminator& b) {
    if (a.bytes != b.bytes) return false;
    for (std::size_t i = 0; i < a.bytes; ++i) {
      if (a.text[i] != b.text[i]) return false;
    }
    return true;
  }
};

// The body of a control packet.
struct Control {
  std::uint8_t kind;
  std::uint8_t from_connection;
  std::uint8_t to_connection;
  std::uint8_t rdma;  // 1: write, 2: read; 4: the packet is a repeated one
  std::uint16_t from_vi;
  std::uint16_t to_vi;
  std::uint16_t level;
  std::uint16_t value;  // of refuse: a VIP_RETURN; of disconnect: how many messages came; wraps;
                        // of request, peer and accept: the sender's Vi::queue
  std::uint32_t transfer_max;
  std::uint64_t qos;
  Discriminator from;
  Discriminator to;
};
static_assert(sizeof(Control) == 24 + 2 * (2 + kDiscriminatorMax) + 4);

}  // namespace fairlead::via
