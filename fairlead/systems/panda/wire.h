// What Panda puts into the words of each packet. A message's first packet says what it is; those
// behind it only which part of which message they are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fairlead/lci/port.h"
#include "fairlead/run/names.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::panda {

constexpr run::Names kNames = run::names_of(run::System::panda);
constexpr lci::Chan kChannel = kNames.channels.first;
// The segment of the word that holds the number of the next ordered broadcast.
constexpr lci::SegId kOrderSegment = kNames.segments.first;

enum class Kind : std::uint8_t {
  message = 1,  // unicast, or by the Port's multicast
  ordered,      // extra: its number in the one order of all sources
  call,         // extra: the caller's slot, and its generation above
  answer,       // as call
  gather,       // of a barrier, to rank 0; extra: the barrier's number
  release,      // of a barrier, from rank 0
  more,         // a further packet of any of these
};

// Numbers of the messages from one source to one rank, or from one source to all. They wrap.
using Number = std::uint16_t;
constexpr unsigned kNumberBits = 12;
constexpr Number kNumberMask = (1u << kNumberBits) - 1;

// How far `number` is behind `expected` (negative) or before it.
constexpr int number_distance(Number number, Number expected) {
  constexpr int kHalf = 1 << (kNumberBits - 1);
  const int ahead = (number - expected) & kNumberMask;
  return ahead < kHalf ? ahead : ahead - 2 * kHalf;
}

// The four words of a packet. Little-endian, as the ranks of a job are.
struct Head {
  std::uint32_t tag = 0;    // kind (4 bits), number (12), service (16; of more: 0)
  std::uint32_t size = 0;   // bytes of the message; of more: index of the packet, the first is 0
  std::uint64_t extra = 0;  // by kind; of more: bytes of the message

  static Head first(Kind kind, Service service, std::size_t size, std::uint64_t extra) {
    return {tag_of(kind, service), static_cast<std::uint32_t>(size), extra};
  }
  static Head following(std::uint32_t index, std::size_t size) {
    return {tag_of(Kind::more, 0), index, size};
  }
  // May be no kind that there is: it comes from outside.
  Kind kind() const { return static_cast<Kind>(tag >> 28); }
  Number number() const { return static_cast<Number>((tag >> 16) & kNumberMask); }
  Service service() const { return static_cast<Service>(tag); }
  Head numbered(Number number) const {
    return {(tag & ~(std::uint32_t{kNumberMask} << 16)) | std::uint32_t{number} << 16, size, extra};
  }

 private:
  static std::uint32_t tag_of(Kind kind, Service service) {
    return static_cast<std::uint32_t>(kind) << 28 | service;
  }
};
static_assert(sizeof(Head) == sizeof(lci::Words) && std::is_trivially_copyable_v<Head>);
static_assert(kMessageBytesMax <= UINT32_MAX && kServices <= 0x10000);

inline Head read_head(const lci::Words& words) {
  Head head;
  std::memcpy(&head, words, sizeof head);
  return head;
}

// Body of a gather: what the rank's messages to others and from them come to so far.
struct Gathered {
  std::uint64_t sent;
  std::uint64_t received;
};
static_assert(sizeof(Gathered) == 16 && std::is_trivially_copyable_v<Gathered>);
// Body of a release.
struct Released {
  std::uint64_t quiet;  // 1: every message that was sent has been received
};
static_assert(sizeof(Released) == 8 && std::is_trivially_copyable_v<Released>);

constexpr std::uint64_t slot_extra(std::uint32_t slot, std::uint32_t generation) {
  return slot | std::uint64_t{generation} << 32;
}

}  // namespace fairlead::panda
