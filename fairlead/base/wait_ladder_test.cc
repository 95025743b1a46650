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

TEST(WaitLadder, SleepsAtOnceWhereYieldsCostMuch) {
  const WaitPlan plan{0, 0, seconds(100), milliseconds(1), microseconds(1000)};
  WaitLadder ladder(plan);
  EXPECT_EQ(ladder.next(), Step::yield);
  // Somebody else has the processor.
  for (const std::int64_t end = monotonic_ns() + 2'000'000; monotonic_ns() < end;) cpu_pause();
  EXPECT_EQ(ladder.next(), Step::sleep);
  // Expect: remembered for a while
  ladder.reset();
  EXPECT_EQ(ladder.next(), Step::sleep);
  // Expect: and then tried again
  const std::int64_t start = monotonic_ns();
  Step step = Step::sleep;
  while (step == Step::sleep && monotonic_ns() - start < 1'000'000'000) {
    ladder.reset();
    step = ladder.next();
  }
  EXPECT_EQ(step, Step::yield);
  // Expect: where yields are not timed none of this
  const WaitPlan patient{0, 0, seconds(100), milliseconds(1)};
  WaitLadder other(patient);
  EXPECT_EQ(other.next(), Step::yield);
  for (const std::int64_t end = monotonic_ns() + 2'000'000; monotonic_ns() < end;) cpu_pause();
  EXPECT_EQ(other.next(), Step::yield);
}

}  // namespace
}  // namespace fairlead
