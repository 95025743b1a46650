// Where everything lies in memory that hosts share without coherent caches. Each line is stored by
// one rank only, and all that is read of it is checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/post.h"
#include "fairlead/fabric/lines/line_memory.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

// Packets under way from one rank to another on one lane, and lines for their payloads.
constexpr std::uint32_t kLineSlots = 64;
constexpr std::uint32_t kLineRoom = 512;
// A packet of 8 KiB and what lci, hrx and faulty put before it.
constexpr std::uint32_t kLineMtu = 8192 + 128;
constexpr std::uint32_t kLineInline = 32;
constexpr std::uint64_t kLinesMagic = 0x656e'696c'6c66;  // "flline"
constexpr std::uint32_t kLinesVersion = 1;

struct LinesHeader {
  std::uint64_t magic;  // stored last
  std::uint32_t version;
  std::uint32_t ranks;
  std::uint64_t nonce;  // the job's
};
static_assert(sizeof(LinesHeader) <= kLineBytes && std::is_trivially_copyable_v<LinesHeader>);

// One packet, the sender's. The flag, its size and a stamp, is stored last; the stamp is how often
// the ring has come round, from 1, so that slots need no clearing. More than kLineInline bytes lie
// in the room from the line that `payload` names.
struct alignas(kLineBytes) LineSlot {
  std::uint64_t flag;
  std::uint64_t route;
  std::uint32_t words[4];
  std::byte payload[kLineInline];
};
static_assert(sizeof(LineSlot) == kLineBytes);

constexpr std::uint64_t line_flag(std::uint32_t size, std::uint32_t position) {
  return size | std::uint64_t{position / kLineSlots + 1} << 32;
}
constexpr std::uint32_t lines_of(std::uint32_t bytes) {
  return (bytes + static_cast<std::uint32_t>(kLineBytes) - 1) /
         static_cast<std::uint32_t>(kLineBytes);
}

// The way from one rank to another, on one lane.
struct LineWay {
  LineSlot slots[kLineSlots];               // the sender's
  std::byte room[kLineRoom][kLineBytes];    // the sender's
  alignas(kLineBytes) std::uint32_t taken;  // the receiver's: slots, modulo 2^32
};
static_assert(sizeof(LineWay) % kLineBytes == 0 && std::is_standard_layout_v<LineWay>);
static_assert(lines_of(kLineMtu) * 2 < kLineRoom);

constexpr std::uint64_t kLinesFirst = 4096;  // the header's page
constexpr std::uint64_t lines_bytes(std::uint64_t ranks) {
  return kLinesFirst + ranks * ranks * kLanes * sizeof(LineWay);
}
inline LineWay& line_way(std::byte* base, Peer ranks, Peer receiver, Peer sender,
                         std::uint32_t lane) {
  const std::uint64_t number = (std::uint64_t{receiver} * ranks + sender) * kLanes + lane;
  return *reinterpret_cast<LineWay*>(base + kLinesFirst + number * sizeof(LineWay));
}

}  // namespace fairlead::fabric
