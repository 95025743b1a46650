// What of a rank's gate is the LANai's own: the commands to a ModelHostNi by the names there, what
// its host sees, and what its library must know.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/model/lanai/lanai_parts.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/hw/lanai/library_rates.h"

namespace fairlead::fabric::model {

// Those from `alloc` on are answered: the rank hands control over; the others are queued until
// then.
enum class LanaiOp : std::uint32_t {
  write = static_cast<std::uint32_t>(GateOp::kind_first),  // a: bytes
  post,                                                    // id, a: descriptor lines
  post_near,                                               // id, a: bytes to be copied
  read_near,                                               // id
  move,                                                    // a: time in ps, b: bytes
  cancel,                                                  // id
  release,                                                 // id
  release_local,                                           // id
  return_host_buffer,                                      // id: the packet that stays
  close_vi,                                                // id: the virtual interface
  allow,                                                   // id: memory handle; GateViMemory
  forbid,                                                  // id: memory handle
  connect_vi,                                              // id: the virtual interface; GateViEnd
  disconnect_vi,                                           // id: the same
  post_vi_send,                                            // id: the same; GateViToken
  post_vi_receive,                                         // the same
  forget_vis,
  alloc,          // a: payload bytes, b: reserve; answer: id
  alloc_near,     // the same
  slowed,         // a: time in ps, b: bytes; answer: value
  alloc_local,    // a: payload bytes; answer: id
  image,          // id: the buffer, a: 1 for a detached one; answer: id
  add_words,      // id: segment, a: count; answer: id of the first word
  open_vi,        // answer: id
  count_entries,  // not answered. id: the virtual interface, or 0; GateViEntries
};

// How ViMemory, ViEnd and ViToken travel in a command: addresses of processes have 47 bits.
struct GateViMemory {
  static constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << 48) - 1;

  static std::uint64_t a(const ViMemory& memory) {
    return (memory.base & kAddressMask) | std::uint64_t{memory.segment} << 61 |
           std::uint64_t{memory.writes} << 62 | std::uint64_t{memory.reads} << 63;
  }
  static std::uint64_t b(const ViMemory& memory) {
    return (memory.bytes & kAddressMask) | std::uint64_t{memory.ptag} << 48;
  }
  static ViMemory read(const GateCommand& command) {
    return {command.id,
            static_cast<std::uint32_t>(command.b >> 48),
            command.a & kAddressMask,
            command.b & kAddressMask,
            (command.a >> 62 & 1) != 0,
            command.a >> 63 != 0,
            (command.a >> 61 & 1) != 0};
  }
};
// A protection tag has 16 bits, the largest message 24.
struct GateViEnd {
  static std::uint64_t a(const ViEnd& end) {
    return end.peer | std::uint64_t{end.ptag & 0xffff} << 32 | std::uint64_t{end.chan} << 48;
  }
  static std::uint64_t b(const ViEnd& end) {
    return std::uint64_t{end.connection} | std::uint64_t{end.writes} << 8 |
           std::uint64_t{end.reads} << 9 | std::uint64_t{end.breaks} << 10 |
           std::uint64_t{end.tells} << 11 | std::uint64_t{end.send_entries} << 12 |
           std::uint64_t{end.receive_entries} << 13 | std::uint64_t{end.peer_connection} << 16 |
           std::uint64_t{end.peer_queue} << 24 | std::uint64_t{end.transfer_max} << 40;
  }
  static ViEnd read(const GateCommand& command) {
    const auto bit = [&command](unsigned at) { return (command.b >> at & 1) != 0; };
    return {command.id,
            static_cast<Rank>(command.a),
            static_cast<std::uint8_t>(command.b),
            static_cast<std::uint32_t>(command.a >> 32 & 0xffff),
            bit(8),
            bit(9),
            bit(10),
            bit(11),
            bit(12),
            bit(13),
            static_cast<std::uint8_t>(command.b >> 16),
            static_cast<std::uint16_t>(command.b >> 24),
            static_cast<std::uint16_t>(command.a >> 48),
            static_cast<std::uint32_t>(command.b >> 40)};
  }
};
struct GateViEntries {
  static std::uint64_t a(const ViEntries& entries, bool of_receives) {
    return (entries.consumed & GateViMemory::kAddressMask) | std::uint64_t{of_receives} << 63;
  }
  static std::uint64_t b(const ViEntries& entries) {
    return entries.room | std::uint64_t{entries.number} << 32;
  }
  static ViEntries read(const GateCommand& command) {
    return {static_cast<std::uint16_t>(command.b >> 32), static_cast<std::uint32_t>(command.b),
            command.a & GateViMemory::kAddressMask};
  }
  static bool of_receives(const GateCommand& command) { return command.a >> 63 != 0; }
  // Bits of `a` that mean nothing.
  static std::uint64_t unused(const GateCommand& command) {
    return command.a & ~(GateViMemory::kAddressMask | std::uint64_t{1} << 63);
  }
};
struct GateViToken {
  static std::uint64_t a(const ViToken& token) {
    return (token.address & GateViMemory::kAddressMask) | std::uint64_t{token.connection} << 48;
  }
  static std::uint64_t b(const ViToken& token) {
    return std::uint64_t{token.handle} | std::uint64_t{token.sequence} << 32;
  }
  static ViToken read(const GateCommand& command) {
    return {command.a & GateViMemory::kAddressMask, static_cast<std::uint32_t>(command.b),
            static_cast<std::uint16_t>(command.b >> 32),
            static_cast<std::uint8_t>(command.a >> 48)};
  }
};

// GateSlot::visible. Each array at most full; the rest comes with the next answers.
struct LanaiVisible {
  static constexpr std::uint32_t kEach = 128;

  std::uint32_t send_buffers;  // free
  std::uint32_t near_buffers;  // the same
  std::uint32_t received_count;
  std::uint32_t completed_count;
  std::uint32_t answered_count;
  std::uint32_t reserved;
  // Since when the oldest of `received` that is to be looked at was there; as of watchdogs.
  std::int64_t visible_since_ps;
  std::uint32_t received[kEach];
  std::uint64_t completed[kEach];
  HostAnswer answered[kEach];
};
static_assert(sizeof(LanaiVisible) <= GateSlot::kVisibleBytes &&
              std::is_trivially_copyable_v<LanaiVisible>);

inline LanaiVisible& lanai_visible(GateSlot& slot) {
  return *reinterpret_cast<LanaiVisible*>(slot.visible);
}

// GateHeader::kind.
struct LanaiHeader {
  hw::LibraryRates rates;
  LanaiShares shares;
};
static_assert(sizeof(LanaiHeader) <= GateHeader::kKindBytes &&
              std::is_trivially_copyable_v<LanaiHeader>);

inline const LanaiHeader& lanai_header(const GateMemory& memory) {
  return *reinterpret_cast<const LanaiHeader*>(memory.header().kind);
}

}  // namespace fairlead::fabric::model
