// Remote procedure calls at the caller: who waits for which answer.
#pragma once
#include <cstdint>
#include <deque>

#include "fairlead/base/post.h"
#include "fairlead/systems/panda/received.h"

namespace fairlead::panda {

struct CallSlot {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // of the call under way, else of the next one; never 0
  bool open = false;             // a call is under way that has no answer yet
  Rank to = 0;
  Service service = 0;
  Counter answered;            // one for each answer
  Received* answer = nullptr;  // until end()
  CallSlot* next_free = nullptr;
};

class Calls {
 public:
  enum class Verdict : std::uint8_t {
    taken,
    twice,    // the last call of that slot has its answer already
    foreign,  // no call of this rank's
  };

  explicit Calls(std::uint32_t first_generation) : first_(first_generation) {}

  CallSlot& begin(Rank to, Service service);
  // The slot may be used for the next call.
  void end(CallSlot& slot);
  // An answer came; the message is still the caller's where it was not taken.
  Verdict arrived(Received* message);

  static constexpr std::uint32_t following(std::uint32_t generation) {
    return generation == UINT32_MAX ? 1 : generation + 1;
  }

 private:
  std::uint32_t first_;
  std::deque<CallSlot> slots_;  // does not move them
  CallSlot* free_ = nullptr;
};

}  // namespace fairlead::panda
