// What the packets of remote memory say (remote_memory.h asks, memory_server.h answers). Words of a
// request: segment, offset (low, high), and what the request is about.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead::lci {

constexpr std::uint64_t join_words(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
constexpr std::uint32_t low_word(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
constexpr std::uint32_t high_word(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

// Flags of a request, in its last word. A get has the size there, an atomic what it does.
constexpr std::uint32_t kAsksAfter = 1u << 31;  // not before earlier puts of the same source
constexpr std::uint32_t kAsksWord4 = 1u << 30;  // the atomic's word has 4 bytes
// The rail that it names (rail_of() in port.h), which the answer to a get has there, too. A port
// whose network has no rails of its own to choose from leaves it unread.
constexpr std::uint32_t kAsksRailShift = 27;
constexpr std::uint32_t kAsksRailMost = 7;
constexpr std::uint32_t kAsksRail = kAsksRailMost << kAsksRailShift;
constexpr std::uint32_t kAsksBits = kAsksAfter | kAsksWord4 | kAsksRail;
constexpr std::uint32_t asked_after(bool after) { return after ? kAsksAfter : 0; }
constexpr std::uint32_t asked_rail(std::uint32_t rail) {
  return rail <= kAsksRailMost ? rail << kAsksRailShift : 0;
}
constexpr std::uint32_t rail_asked(std::uint32_t word) {
  return (word & kAsksRail) >> kAsksRailShift;
}

// A put of several pieces has their number in its last word; 0: one piece, at the request's offset.
// The packet begins with one of these for each, and then has their data, one after the other.
struct PackedPiece {
  std::uint32_t offset;  // low half; the high half is the request's
  std::uint32_t size;
};
constexpr std::size_t kPackedPiecesMax = 64;

struct GetAsk {
  std::uint32_t id;
  std::uint32_t fragment;
};
struct AtomicAsk {
  std::uint64_t a;
  std::uint64_t b;
  std::uint32_t id;
  std::uint32_t unused;
};
static_assert(sizeof(PackedPiece) == 8 && sizeof(GetAsk) == 8 && sizeof(AtomicAsk) == 24);

}  // namespace fairlead::lci
