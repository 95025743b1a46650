// Totally ordered broadcast at the receivers: messages carry the numbers that their senders fetched
// at the sequencer, and go on in that order (LCI paper section 6.1).
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/systems/panda/received.h"

namespace fairlead::panda {

class Reorder {
 public:
  // Messages that may wait for one before them. A sender goes at most kAheadMax beyond what it has
  // received itself, so that only a rank to which one source's packets come very much later than
  // all others' gets near it.
  static constexpr std::uint64_t kWindow = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kAheadMax = 1024;

  enum class Verdict : std::uint8_t {
    in_order,   // `ready` has it, and what waited for it
    early,      // waits
    duplicate,  // that number came before: the message is still the caller's
    too_far,    // beyond the window: the message is still the caller's
  };

  explicit Reorder(std::uint64_t first) : next_(first) {}

  Verdict arrived(Received* message, Ring<Received*>& ready);
  // The number of the next message in order.
  std::uint64_t next() const { return next_; }

 private:
  Received*& at(std::uint64_t number) { return waiting_[number & (waiting_.size() - 1)]; }
  void widen(std::uint64_t ahead);

  std::uint64_t next_;
  std::vector<Received*> waiting_;  // by number, a power of two of them
};

}  // namespace fairlead::panda
