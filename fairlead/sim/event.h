// What the event queue orders: one occurrence in virtual time.
#pragma once
#include <compare>
#include <cstdint>
#include <type_traits>

#include "fairlead/base/units.h"

namespace fairlead::sim {

// Runs in the engine's thread at the event's time; a and b are the scheduler's, uninterpreted.
using Handler = void (*)(void* context, std::uint64_t a, std::uint64_t b);

// Source node, per-node sequence and kind in one word, so that one comparison orders and one hash
// covers all three. The kind lies below the sequence, which is unique in its node: it never
// decides.
class EventKey {
 public:
  static constexpr unsigned kKindBits = 8;
  static constexpr unsigned kSequenceBits = 36;  // 69 billion events per node
  static constexpr unsigned kNodeBits = 20;      // a million nodes: ranks, switches, links
  static constexpr std::uint32_t kMaxNodes = 1u << kNodeBits;
  static constexpr std::uint64_t kMaxSequence = (std::uint64_t{1} << kSequenceBits) - 1;

  constexpr EventKey() = default;
  constexpr EventKey(std::uint32_t node, std::uint64_t sequence, std::uint8_t kind)
      : word_((std::uint64_t{node} << (kSequenceBits + kKindBits)) | (sequence << kKindBits) |
              kind) {}

  constexpr std::uint64_t word() const { return word_; }
  constexpr std::uint32_t node() const {
    return static_cast<std::uint32_t>(word_ >> (kSequenceBits + kKindBits));
  }
  constexpr std::uint64_t sequence() const { return (word_ >> kKindBits) & kMaxSequence; }
  constexpr std::uint8_t kind() const { return static_cast<std::uint8_t>(word_); }

  friend constexpr auto operator<=>(EventKey, EventKey) = default;

 private:
  std::uint64_t word_ = 0;
};

struct Event {
  Ps at;  // not negative
  EventKey key;
  Handler run;
  void* context;
  std::uint64_t a;  // by convention the packet id: it enters the digest
  std::uint64_t b;
};
static_assert(sizeof(Event) == 48 && std::is_trivially_copyable_v<Event>);

// The total order of a simulation: (time, source node, per-node sequence). One 128-bit comparison,
// which compiles without a branch; times are not negative.
constexpr bool before(Ps a_at, EventKey a_key, Ps b_at, EventKey b_key) {
  __extension__ using Wide = unsigned __int128;
  const Wide a = (Wide{static_cast<std::uint64_t>(a_at.count)} << 64) | a_key.word();
  const Wide b = (Wide{static_cast<std::uint64_t>(b_at.count)} << 64) | b_key.word();
  return a < b;
}
constexpr bool before(const Event& a, const Event& b) { return before(a.at, a.key, b.at, b.key); }

}  // namespace fairlead::sim
