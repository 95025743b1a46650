#include "fairlead/hw/host_memory.h"

#include <gtest/gtest.h>

namespace fairlead::hw {
namespace {

// A memory of a gigabyte a second.
constexpr BytesPerSec kRate{1'000'000'000};

TEST(HostMemory, WhatFitsItsRateWaitsForNobody) {
  HostMemory memory(2, kRate);
  // Expect: half of the rate each, both as fast as alone
  EXPECT_EQ(memory.use(0, Ps{0}, microseconds(10), 5000), microseconds(10));
  EXPECT_EQ(memory.use(1, Ps{0}, microseconds(10), 5000), microseconds(10));
}

TEST(HostMemory, BeyondItAllThatIsThereIsShared) {
  HostMemory memory(4, kRate);
  EXPECT_EQ(memory.use(0, Ps{0}, microseconds(10), 8000), microseconds(10));
  // Expect: who comes while others are at it takes as long as the memory does for both, and three
  EXPECT_EQ(memory.use(1, Ps{0}, microseconds(10), 8000), microseconds(16));
  EXPECT_EQ(memory.use(2, Ps{0}, microseconds(10), 8000), microseconds(24));
}

TEST(HostMemory, OthersCountForAsLongAsTheyAreAtIt) {
  HostMemory memory(2, kRate);
  EXPECT_EQ(memory.use(0, Ps{0}, microseconds(10), 10'000), microseconds(10));
  // Expect: 2 us of the other one's full rate are left, of 10 us that are wanted themselves
  EXPECT_EQ(memory.use(1, microseconds(8), microseconds(10), 10'000), microseconds(12));
  // Expect: nobody else is there any more
  EXPECT_EQ(memory.use(0, microseconds(30), microseconds(10), 10'000), microseconds(10));
}

TEST(HostMemory, WorkThatMovesNothingIsNoUse) {
  HostMemory memory(2, kRate);
  EXPECT_EQ(memory.use(0, Ps{0}, microseconds(10), 0), microseconds(10));
  // Expect: the second one finds nobody
  EXPECT_EQ(memory.use(1, Ps{0}, microseconds(10), 10'000), microseconds(10));
}

}  // namespace
}  // namespace fairlead::hw
