// When packets wait for each other, by hand.
#include "fairlead/proto/coalescing.h"

#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

constexpr CoalescingOptions kOptions{.burst_min = microseconds(3),
                                     .burst_max = microseconds(20),
                                     .forgotten = microseconds(30),
                                     .eager_first = 32,
                                     .eager_max = 128};
constexpr Ps kBurst = microseconds(3);

TEST(Coalescing, TheFirstLeavesAndWhatFollowsSoonWaits) {
  Coalescing flow(kOptions);
  Ps now = microseconds(100);
  EXPECT_TRUE(flow.posted(now, kBurst, false));
  flow.left(now);
  now += microseconds(2);
  EXPECT_FALSE(flow.posted(now, kBurst, false));
  EXPECT_TRUE(flow.holds());
  // Expect: as long as it waits, more join it; a full frame leaves
  EXPECT_FALSE(flow.posted(now, kBurst, false));
  EXPECT_TRUE(flow.posted(now, kBurst, true));
  EXPECT_TRUE(flow.release());
  EXPECT_FALSE(flow.release());
  flow.left(now);
  // Expect: what comes later is no burst
  EXPECT_TRUE(flow.posted(now + microseconds(3), kBurst, false));
}

TEST(Coalescing, NothingWaitsWhereNothingMay) {
  Coalescing flow(kOptions);
  flow.left(microseconds(10));
  EXPECT_TRUE(flow.posted(microseconds(10), Ps{0}, false));
}

// Holds one packet back, and the client waits `later`. Returns how many leave at once afterwards.
std::uint32_t eager_after(Coalescing& flow, Ps& now, Ps later) {
  flow.left(now);
  EXPECT_FALSE(flow.posted(now, kBurst, false));
  now += later;
  flow.client_waits(kOptions, now);
  (void)flow.release();
  std::uint32_t eager = 0;
  for (;; ++eager) {
    flow.left(now);
    if (!flow.posted(now, kBurst, false)) break;
  }
  (void)flow.release();
  return eager;
}

TEST(Coalescing, AClientThatComputesHasMoreAndMoreLeaveAtOnce) {
  Coalescing flow(kOptions);
  Ps now = microseconds(100);
  // Expect: one less than the penalty, as the packet that ends it waits
  EXPECT_EQ(eager_after(flow, now, microseconds(31)), 31u);
  EXPECT_EQ(eager_after(flow, now, microseconds(31)), 63u);
  EXPECT_EQ(eager_after(flow, now, microseconds(500)), 127u);
  EXPECT_EQ(eager_after(flow, now, microseconds(500)), 127u);
  // Expect: a client that waits soon is forgiven
  EXPECT_EQ(eager_after(flow, now, microseconds(30)), 0u);
  EXPECT_EQ(eager_after(flow, now, microseconds(31)), 31u);
}

TEST(BurstLength, IsTwiceWhatSendingTakesWithinItsBounds) {
  BurstLength burst(kOptions);
  EXPECT_EQ(burst.length(), microseconds(3));
  for (int i = 0; i < 100; ++i) burst.sent_one(microseconds(5));
  EXPECT_NEAR(static_cast<double>(burst.length().count),
              static_cast<double>(microseconds(10).count), 1e5);
  // Expect: one that was interrupted counts no more than the bound
  for (int i = 0; i < 100; ++i) burst.sent_one(milliseconds(5));
  EXPECT_NEAR(static_cast<double>(burst.length().count),
              static_cast<double>(microseconds(20).count), 1e5);
  for (int i = 0; i < 100; ++i) burst.sent_one(nanoseconds(100));
  EXPECT_EQ(burst.length(), microseconds(3));
}

}  // namespace
}  // namespace fairlead::proto
