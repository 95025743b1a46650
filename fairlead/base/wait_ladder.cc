#include "fairlead/base/wait_ladder.h"

#include <algorithm>

namespace fairlead {
namespace {

// So long without a yield after one that cost much; twice as long after each further one in a row.
constexpr std::int64_t kCrowdedFirstNs = 10'000'000;
constexpr std::int64_t kCrowdedMostNs = 160'000'000;

}  // namespace

WaitLadder::Step WaitLadder::next_slow() {
  // A clock read per yield would cost more than it tells: look every 16th time.
  const std::uint64_t n = idle_ - 1 - plan_->spins - plan_->pauses;
  if (plan_->yield_for.count <= 0) return Step::sleep;
  if (plan_->crowded > Ps{0}) return next_watchful(n == 0);
  if (n == 0) {
    sleeping_ = false;
    yield_until_ns_ = monotonic_ns() + plan_->yield_for.count / 1000;
  } else if (!sleeping_ && n % 16 == 0) {
    sleeping_ = monotonic_ns() >= yield_until_ns_;
  }
  return sleeping_ ? Step::sleep : Step::yield;
}

WaitLadder::Step WaitLadder::next_watchful(bool first) {
  if (!first && sleeping_) return Step::sleep;
  const std::int64_t now = monotonic_ns();
  if (first) {
    sleeping_ = now < crowded_until_ns_;
    yield_until_ns_ = now + plan_->yield_for.count / 1000;
  } else {
    sleeping_ = yield_cost(now - yielded_ns_, now) || now >= yield_until_ns_;
  }
  yielded_ns_ = now;
  return sleeping_ ? Step::sleep : Step::yield;
}

void WaitLadder::give_way() {
  if (plan_->crowded <= Ps{0}) {
    sched_yield();
    return;
  }
  const std::int64_t before = monotonic_ns();
  if (before < crowded_until_ns_) return;
  sched_yield();
  const std::int64_t after = monotonic_ns();
  (void)yield_cost(after - before, after);
}

// True: too much.
bool WaitLadder::yield_cost(std::int64_t ns, std::int64_t now_ns) {
  if (ns <= plan_->crowded.count / 1000) {
    crowded_for_ns_ = 0;
    return false;
  }
  crowded_for_ns_ = std::clamp(2 * crowded_for_ns_, kCrowdedFirstNs, kCrowdedMostNs);
  crowded_until_ns_ = now_ns + crowded_for_ns_;
  return true;
}

}  // namespace fairlead
