// A packet as host and network interface see it: in a send buffer, on the wire, in a receive buffer
// of the NI and of the host it is the same fields, with the payload behind them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/post.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::fabric {

using PacketId = std::uint32_t;  // of its buffer

constexpr PacketId kNoPacket = UINT32_MAX;

// Which buffer a packet occupies where it is. near_buffer: in host memory, of a rank that sends to
// another one of its node.
enum class Holds : std::uint8_t { nothing, send_buffer, receive_buffer, host_buffer, near_buffer };

// NiPacket::to of a packet that is for every rank of its node.
constexpr std::uint8_t kEveryPlace = UINT8_MAX;

struct NiPacket {
  PacketHeader header;
  std::uint64_t operand;     // of a fetch-and-add; its reply: the former value; of a page transfer:
                             // the source's page
  std::uint64_t cookie;      // the sending host's, for its completion
  Peer peer;                 // NI it goes to, or came from; on a host: the rank
  PacketId id;               // its own
  PacketId origin;           // of an image: the packet in the buffer it was made from; or kNoPacket
  std::uint16_t slot_bytes;  // with its payload, at most
  std::uint16_t fetch_bytes;  // the NI fetches these by DMA before it can send; 0: written already
  Holds holds : 6;
  bool any_order : 1;  // its sender does not mind which packets it passes (lci::kAnyOrder)
  bool part : 1;       // of a message that another packet began
  std::uint8_t uses;   // of its buffer that are not over: sends, the delivery to the host
  // The two hosts' and NIs' marks.
  bool wants_report : 1;  // the host waits for this one's completion
  bool fetching : 1;      // its data is on its way into the NI
  bool received : 1;      // it is the receiving host's
  bool kept : 1;          // by its client
  bool for_group : 1;     // to be multicast
  // For a page transfer:
  bool notifies : 1;         // the host is told when it has come
  bool redirected : 1;       // its page was not in the receiving NI's TLB
  bool copy : 1;             // one of several, for the ranks of its node
  std::uint8_t source;       // how the NI gets at the data (proto::SourceKind); of data: a ViOp
  std::uint16_t page_bytes;  // of the page that the NI's TLB gets with it
  // Where several ranks share an NI: numbers among those of a node.
  std::uint8_t place;  // of the rank that posted it
  std::uint8_t to;     // of the rank it is for

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* payload() const { return reinterpret_cast<const std::byte*>(this + 1); }
};
static_assert(sizeof(NiPacket) == 88 && std::is_trivially_copyable_v<NiPacket>);

// The word that a fetch-and-add names, in the words of its header.
struct WordName {
  std::uint32_t segment;
  std::uint64_t offset;  // of its first byte; NI memory is smaller than 4 GB
  bool word4;            // it has 4 bytes, else 8

  static WordName read(const ClientHeader& header) {
    return {header.words[0], header.words[1], header.words[2] != 0};
  }
  void write(ClientHeader& header) const {
    header.words[0] = segment;
    header.words[1] = static_cast<std::uint32_t>(offset);
    header.words[2] = word4 ? 1 : 0;
  }
  // The offset of the 8 bytes that the word is or lies in.
  std::uint64_t offset8() const { return word4 ? offset & ~std::uint64_t{4} : offset; }
  // Adds to it, where `word` is those 8 bytes; returns the former value.
  std::uint64_t add(std::uint64_t* word, std::uint64_t operand) const {
    if (!word4) return std::atomic_ref(*word).fetch_add(operand);
    auto* const half = reinterpret_cast<std::uint32_t*>(word) + offset % 8 / 4;
    return std::atomic_ref(*half).fetch_add(static_cast<std::uint32_t>(operand));
  }
};

// The result of a fetch-and-add, as the host that asked sees it.
struct HostAnswer {
  std::uint64_t cookie;  // of its request
  std::uint64_t value;
};

}  // namespace fairlead::fabric
