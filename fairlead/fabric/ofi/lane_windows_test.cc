#include "fairlead/fabric/ofi/lane_windows.h"

#include <gtest/gtest.h>

namespace fairlead::fabric {
namespace {

TEST(LaneWindows, ALaneIsFullOnItsOwnAndOpensWhenThePeerHasTaken) {
  LaneWindows here;
  LaneWindows there;
  for (std::uint32_t i = 0; i < LaneWindows::kWindow; ++i) {
    ASSERT_TRUE(here.open(0));
    ASSERT_TRUE(there.came(0, here.send(0)));
  }
  // Expect: no more on that lane, the others are open
  EXPECT_FALSE(here.open(0));
  EXPECT_TRUE(here.open(1));
  EXPECT_FALSE(here.all_taken());
  // Expect: half a window later the peer is worth telling
  for (std::uint32_t i = 1; i < LaneWindows::kWindow / 2; ++i) EXPECT_FALSE(there.take(0));
  EXPECT_TRUE(there.take(0));
  EXPECT_TRUE(there.owes());
  ASSERT_TRUE(here.acknowledged(there.acknowledgment()));
  EXPECT_FALSE(there.owes());
  EXPECT_TRUE(here.open(0));
}

void count_from(std::uint32_t first) {
  LaneWindows here(first);
  LaneWindows there(first);
  for (std::uint32_t i = 0; i < (3u << LaneWindows::kBits); ++i) {
    const std::uint32_t lane = i % kLanes;
    ASSERT_TRUE(there.came(lane, here.send(lane)));
    (void)there.take(lane);
    ASSERT_TRUE(here.acknowledged(there.acknowledgment())) << i;
    ASSERT_TRUE(here.all_taken());
  }
}

TEST(LaneWindows, CountsOutliveTheirBits) {
  for (const std::uint32_t first : {0u, UINT32_MAX - 1000}) count_from(first);
}

TEST(LaneWindows, WhatCannotBeIsRefused) {
  LaneWindows here;
  EXPECT_EQ(here.send(1), 0u);
  // Expect: nobody has taken two of one packet, nor one of another lane; nothing is believed of it
  EXPECT_FALSE(here.acknowledged(2u << LaneWindows::kBits));
  EXPECT_FALSE(here.acknowledged(1u << LaneWindows::kBits | 1u));
  EXPECT_FALSE(here.all_taken());
  EXPECT_TRUE(here.acknowledged(1u << LaneWindows::kBits));
  EXPECT_TRUE(here.all_taken());
  // Expect: a packet twice, or one too early, is none
  LaneWindows there;
  EXPECT_FALSE(there.came(2, 1));
  EXPECT_TRUE(there.came(2, 0));
  EXPECT_FALSE(there.came(2, 0));
  EXPECT_EQ(there.next(2), 1u);
}

}  // namespace
}  // namespace fairlead::fabric
