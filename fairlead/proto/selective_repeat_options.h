// What selective repeat (selective_repeat.h) is set to, and what its two ends say to each other.
#pragma once
#include <cstdint>
#include <span>

#include "fairlead/base/units.h"

namespace fairlead::proto {

struct SelectiveRepeatOptions {
  std::uint32_t window_max;  // packets under way to one peer; a power of two, at least 2
  std::uint32_t window_first = 16;
  Ps timeout_first;         // before a round trip was measured
  Ps timeout_min;           // however short the round trips are
  Ps timeout_max;           // however often it has doubled
  Ps ack_delay;             // an acknowledgment waits so long for a packet to ride on
  std::uint32_t ack_every;  // so many packets owed are acknowledged at once
  // In a stream twice as many each time, up to this; until the delay or a gap ends it. At least
  // ack_every, or 0: never more.
  std::uint32_t ack_every_max = 0;
  std::uint32_t first = 0;  // number of the first packet, the same at both ends; they wrap
  // The receiver's buffers are few: the window moves as they are released, not as packets are
  // accepted; what is accepted and not released is told of as if it were early.
  bool acks_released = false;
  // Nobody else measures round trips (SelectiveRepeat::measured): the sender takes them from what
  // is acknowledged of packets that it sent once.
  bool measures = false;
  std::uint32_t tries_max = 0;  // timeouts in a row after which a peer is lost; 0: never
};

// What stands in an acknowledgment: everything before `next` has come, and of what follows, bit i
// of the words (the lowest bit first) says that next + i has.
struct SelectiveAck {
  std::uint32_t next;
  std::span<const std::uint64_t> early = {};
  // When the packet left that came to the peer last before it said so; 0: it does not tell.
  Ps answers{};
};

// Which of its two entries in the Deadlines of its endpoint a direction has.
enum SelectiveRepeatTimer : std::uint32_t { kSelectiveAckDue, kSelectiveTimeout };

}  // namespace fairlead::proto
