// What hosts and NIs say to each other about I-rcpy's page transfers (LCI paper section 5.2.3): a
// remote-memory copy is split so that each part lies within one page of the source and one of the
// destination, and each part is one packet. The Port's RDMA writes over virtual interfaces are such
// packets, too (via_puts.h), whose parts may begin and end anywhere.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/translation_cache.h"

namespace fairlead::lci {

constexpr std::uint32_t kPageBytes = 4096;
// Entries of the host's and of the NI's TLB (paper section 5.2.3).
constexpr std::uint32_t kTlbEntries = 1024;

// Virtual addresses are segment and offset, on both sides: what a rank exposed begins at a page, at
// the same one in every run. A page is its segment and its number there; kPrivatePage is in the
// name where peers may not write the page.
constexpr proto::VirtualPage kPrivatePage = proto::VirtualPage{1} << 31;
constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{kPageBytes} << 31;

constexpr proto::VirtualPage page_of(SegId segment, std::uint64_t offset) {
  return proto::VirtualPage{segment} << 32 | offset / kPageBytes;
}
constexpr SegId segment_of(proto::VirtualPage page) { return static_cast<SegId>(page >> 32); }
constexpr std::uint64_t number_of(proto::VirtualPage page) { return page & (kPrivatePage - 1); }

// Where the data of a page transfer belong, and what they bring: in its client words.
struct PageTarget {
  SegId segment = 0;
  std::uint64_t offset = 0;
  CtrId counter = kNoCounter;  // to be bumped
  bool after = false;          // not to be seen before what came before it

  proto::VirtualPage page() const { return page_of(segment, offset); }

  void write(fabric::ClientHeader& header) const {
    header.words[0] = segment;
    header.words[1] = static_cast<std::uint32_t>(offset);
    header.words[2] = static_cast<std::uint32_t>(offset >> 32);
    header.words[3] = counter | std::uint32_t{after} << 16;
  }
  static PageTarget read(const fabric::ClientHeader& header) {
    return {header.words[0], std::uint64_t{header.words[2]} << 32 | header.words[1],
            static_cast<CtrId>(header.words[3] & 0xffff), (header.words[3] >> 16 & 1) != 0};
  }
};

// Where the data of a put over virtual interfaces are read from: in the fields of its packet that
// its number and acknowledgment take when it leaves.
struct PutSource {
  bool exposed = false;  // by this rank; else it is a buffer of the Port's
  SegId segment = 0;
  std::uint64_t offset = 0;

  void write(fabric::NiPacket& packet) const {
    packet.source =
        static_cast<std::uint8_t>(exposed ? proto::SourceKind::hit : proto::SourceKind::copy);
    packet.header.job = segment;
    packet.header.sequence = static_cast<std::uint32_t>(offset);
    packet.header.ack = static_cast<std::uint32_t>(offset >> 32);
  }
  static PutSource read(const fabric::NiPacket& packet) {
    return {packet.source == static_cast<std::uint8_t>(proto::SourceKind::hit), packet.header.job,
            std::uint64_t{packet.header.ack} << 32 | packet.header.sequence};
  }
};

// A frame's address stands for itself on the model: its page's name does as well.
constexpr proto::Frame frame_of(proto::VirtualPage page, std::uint32_t bytes) {
  return {page, bytes};
}

// What a descriptor says of the TLB.
inline void write_source(fabric::NiPacket& packet, const proto::SourceUse& use) {
  packet.source = static_cast<std::uint8_t>(use.kind);
  packet.page_bytes = static_cast<std::uint16_t>(use.holds.frame.bytes);
  packet.operand = use.kind == proto::SourceKind::drop ? use.slot : use.holds.page;
}
inline proto::SourceUse read_source(const fabric::NiPacket& packet) {
  const auto kind = static_cast<proto::SourceKind>(packet.source);
  if (kind == proto::SourceKind::drop)
    return {kind, static_cast<std::uint32_t>(packet.operand), {}};
  return {kind,
          proto::tlb_slot(packet.operand, kTlbEntries),
          {packet.operand, frame_of(packet.operand, packet.page_bytes)}};
}

// The payload of a PacketKind::tlb_write: an entry of the NI's TLB as the host wants it, written
// beside any transfer.
struct TlbWrite {
  std::uint32_t slot;
  std::uint32_t bytes;
  proto::VirtualPage page;
  std::uint32_t handled;
  std::uint32_t drops;  // 1: an entry that the host takes back by itself; `handled` says nothing
};
static_assert(sizeof(TlbWrite) == 24 && std::is_trivially_copyable_v<TlbWrite>);

}  // namespace fairlead::lci
