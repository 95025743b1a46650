#include "fairlead/systems/mpi/devices/panda/kept_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fairlead/systems/mpi/fake_port.h"

namespace fairlead::mpi {
namespace {

struct KeptRangesTest : testing::Test {
  static constexpr lci::SegId kFirst = 1000;

  const std::byte* at(std::size_t offset) const { return memory.data() + offset; }
  bool is_exposed(const KeptRanges::Range& range) const {
    const auto found = port.exposed.find(range.segment);
    return found != port.exposed.end() && found->second.data() == range.begin &&
           found->second.size() == range.size;
  }

  FakePort port{0, 2};
  KeptRanges kept{port, kFirst, 1 << 20};
  const std::vector<std::byte> memory = std::vector<std::byte>(1 << 20);
};

TEST_F(KeptRangesTest, StaysExposedAndIsUsedAgain) {
  KeptRanges::Range* const first = kept.use(at(100), 5000);
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(is_exposed(*first));
  EXPECT_EQ(first->offset_of(at(104)), 4u);
  kept.give(*first);
  EXPECT_EQ(port.exposed.size(), 1u);
  // Expect: a part of it is in it, by two messages at once, too
  KeptRanges::Range* const part = kept.use(at(200), 300);
  EXPECT_EQ(part, first);
  EXPECT_EQ(kept.use(at(100), 5000), first);
  kept.give(*first);
  kept.give(*part);
  EXPECT_EQ(port.exposed.size(), 1u);
  kept.withdraw();
  EXPECT_TRUE(port.exposed.empty());
}

TEST_F(KeptRangesTest, ThoseThatMeetBecomeOne) {
  for (const std::size_t begin : {0, 1000, 3000}) kept.give(*kept.use(at(begin), 1000));
  // Expect: the first two meet, the third is apart
  EXPECT_EQ(kept.count(), 2u);
  // Expect: what meets both on either side joins them
  KeptRanges::Range* const all = kept.use(at(2000), 1000);
  EXPECT_EQ(kept.count(), 1u);
  EXPECT_EQ(all->begin, at(0));
  EXPECT_EQ(all->size, 4000u);
  EXPECT_TRUE(is_exposed(*all));
  EXPECT_EQ(port.exposed.size(), 1u);
  kept.give(*all);
}

TEST_F(KeptRangesTest, OneInUseStaysWhereItIsUntilItIsGivenBack) {
  KeptRanges::Range* const small = kept.use(at(1000), 1000);
  const lci::SegId segment = small->segment;
  KeptRanges::Range* const large = kept.use(at(500), 4000);
  EXPECT_NE(large->segment, segment);
  // Expect: a peer's put into the small one is still taken, and new messages use the large one
  EXPECT_TRUE(port.exposed.contains(segment));
  EXPECT_EQ(kept.use(at(1000), 1000), large);
  kept.give(*small);
  EXPECT_FALSE(port.exposed.contains(segment));
  EXPECT_TRUE(is_exposed(*large));
  kept.give(*large);
  kept.give(*large);
  EXPECT_EQ(kept.count(), 1u);
}

TEST_F(KeptRangesTest, TheLeastRecentlyUsedMakesRoom) {
  const auto nth = [this](std::size_t number) { return at(number * 4096); };
  for (std::size_t i = 0; i < KeptRanges::kRangesMax; ++i) kept.give(*kept.use(nth(i), 100));
  kept.give(*kept.use(nth(0), 100));
  KeptRanges::Range* const held = kept.use(nth(1), 100);
  EXPECT_EQ(kept.count(), KeptRanges::kRangesMax);
  // Expect: 2 is the oldest that is not in use, and 0 and 1 are still there
  kept.give(*kept.use(nth(KeptRanges::kRangesMax), 100));
  EXPECT_EQ(kept.count(), KeptRanges::kRangesMax);
  const auto has = [&](std::size_t number) {
    return std::any_of(port.exposed.begin(), port.exposed.end(),
                       [&](const auto& each) { return each.second.data() == nth(number); });
  };
  EXPECT_TRUE(has(0));
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_TRUE(has(3));
  kept.give(*held);
}

TEST_F(KeptRangesTest, ThereIsNoRoomWhereAllAreInUse) {
  std::vector<KeptRanges::Range*> held;
  for (std::size_t i = 0; i < KeptRanges::kRangesMax; ++i) held.push_back(kept.use(at(i * 64), 8));
  EXPECT_EQ(kept.use(at(1 << 19), 8), nullptr);
  EXPECT_EQ(port.exposed.size(), KeptRanges::kRangesMax);
  kept.give(*held.back());
  EXPECT_NE(kept.use(at(1 << 19), 8), nullptr);
}

TEST_F(KeptRangesTest, APortWithoutRoomGetsSomeByTheOldest) {
  port.exposed_max = 2;
  kept.give(*kept.use(at(0), 10));
  KeptRanges::Range* const second = kept.use(at(100), 10);
  KeptRanges::Range* const third = kept.use(at(200), 10);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(kept.count(), 2u);
  // Expect: both are in use, so that none can make room
  EXPECT_EQ(kept.use(at(300), 10), nullptr);
  EXPECT_TRUE(is_exposed(*second));
  EXPECT_TRUE(is_exposed(*third));
}

TEST_F(KeptRangesTest, NumbersOfSegmentsComeAgainAndPassThoseInUse) {
  KeptRanges few(port, kFirst, 3);
  KeptRanges::Range* const stays = few.use(at(0), 10);
  KeptRanges::Range* const goes = few.use(at(100), 10);
  EXPECT_EQ(stays->segment, kFirst);
  KeptRanges::Range* const larger = few.use(at(90), 40);
  few.give(*goes);
  KeptRanges::Range* const again = few.use(at(200), 10);
  // Expect: the number of what went, for the two others are in use
  EXPECT_EQ(larger->segment, kFirst + 2);
  EXPECT_EQ(again->segment, kFirst + 1);
  EXPECT_EQ(few.count(), 3u);
}

}  // namespace
}  // namespace fairlead::mpi
