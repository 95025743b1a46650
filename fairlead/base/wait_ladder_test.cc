#include "fairlead/base/wait_ladder.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using Step = WaitLadder::Step;

TEST(WaitLadder, ClimbsInOrderAndStartsAgain) {
  const WaitPlan plan{2, 1, Ps{0}, milliseconds(1)};
  WaitLadder ladder(plan);
  for (int round = 0; round < 2; ++round) {
    // Expect: two spins, one pause, then sleep for ever, again after reset().
    EXPECT_EQ(ladder.next(), Step::spin);
    EXPECT_EQ(ladder.next(), Step::spin);
    EXPECT_EQ(ladder.next(), Step::pause);
    EXPECT_EQ(ladder.next(), Step::sleep);
    EXPECT_EQ(ladder.next(), Step::sleep);
    ladder.reset();
  }
}

TEST(WaitLadder, OversubscribedYieldsAtOnce) {
  const WaitPlan plan = wait_plan_oversubscribed();
  WaitLadder ladder(plan);
  // Expect: the first fruitless poll already gives the processor away.
  EXPECT_EQ(ladder.next(), Step::yield);
}

TEST(WaitLadder, YieldsForABoundedTimeOnly) {
  const WaitPlan plan{0, 0, microseconds(200), milliseconds(1)};
  WaitLadder ladder(plan);
  const std::int64_t start = monotonic_ns();
  while (ladder.next() == Step::yield) {
  }
  // Expect: it went on for at least the time asked, then sleeps.
  EXPECT_GE(monotonic_ns() - start, 200'000);
  EXPECT_EQ(ladder.next(), Step::sleep);
}

}  // namespace
}  // namespace fairlead
