#include "fairlead/base/wait_ladder.h"

namespace fairlead {

WaitLadder::Step WaitLadder::next_slow() {
  // A clock read per yield would cost more than it tells: look every 16th time.
  const std::uint64_t n = idle_ - 1 - plan_->spins - plan_->pauses;
  if (plan_->yield_for.count <= 0) return Step::sleep;
  if (n == 0) {
    sleeping_ = false;
    yield_until_ns_ = monotonic_ns() + plan_->yield_for.count / 1000;
  } else if (!sleeping_ && n % 16 == 0) {
    sleeping_ = monotonic_ns() >= yield_until_ns_;
  }
  return sleeping_ ? Step::sleep : Step::yield;
}

}  // namespace fairlead
