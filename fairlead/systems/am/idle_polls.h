// When a program that polls for Active Messages lets others have its processor: it has a loop of
// its own, in which only the library knows that nothing has come. State only; the caller yields.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"

namespace fairlead::am {

// After 64 polls in a row that found nothing, where the rank has its processor alone. Where a yield
// takes long, others ran meanwhile, which this rank may wait for: then after fewer, down to one.
class IdlePolls {
 public:
  static constexpr std::uint32_t kMost = 64;
  // A yield to nobody takes 0.1 to 0.5 us, one to another process and back 1.6 us at least
  // (base/wait_ladder.h).
  static constexpr Ps kShared = microseconds(1);

  void found_something() { empty_ = 0; }
  // True: it is time to yield.
  bool found_nothing() {
    if (++empty_ < patience_) return false;
    empty_ = 0;
    return true;
  }
  // A yield took so long.
  void yielded(Ps took) {
    patience_ = took > kShared ? std::max(patience_ / 8, 1U) : std::min(patience_ * 2, kMost);
  }

 private:
  std::uint32_t empty_ = 0;
  std::uint32_t patience_ = kMost;
};

}  // namespace fairlead::am
