#include "fairlead/systems/dsm/range_locks.h"

#include <gtest/gtest.h>

namespace fairlead::dsm {
namespace {

using Range = RangeLocks::Range;

// Who gets what now, in order: ranks.
std::vector<Rank> freed(RangeLocks& locks) {
  std::vector<Rank> ranks;
  while (const auto next = locks.free()) ranks.push_back(next->rank);
  return ranks;
}

TEST(RangeLocks, KeepRangesThatMeetApart) {
  RangeLocks locks;
  locks.acquire({0, 1, Range{0, 10, true}, {}});
  locks.acquire({1, 1, Range{10, 20, true}, {}});
  locks.acquire({2, 1, Range{5, 15, true}, {}});
  EXPECT_EQ(freed(locks), (std::vector<Rank>{0, 1}));
  EXPECT_TRUE(locks.release(0, 1));
  EXPECT_EQ(freed(locks), std::vector<Rank>{}) << "rank 1 still holds a part";
  EXPECT_TRUE(locks.release(1, 1));
  EXPECT_EQ(freed(locks), std::vector<Rank>{2});
}

TEST(RangeLocks, LetReadersTogether) {
  RangeLocks locks;
  locks.acquire({0, 1, Range{0, 10, false}, {}});
  locks.acquire({1, 1, Range{0, 10, false}, {}});
  EXPECT_EQ(freed(locks), (std::vector<Rank>{0, 1}));
  locks.acquire({2, 1, Range{0, 10, true}, {}});
  locks.acquire({3, 1, Range{0, 10, false}, {}});
  EXPECT_EQ(freed(locks), std::vector<Rank>{}) << "a reader passed a writer that waits";
  EXPECT_TRUE(locks.release(0, 1));
  EXPECT_TRUE(locks.release(1, 1));
  EXPECT_EQ(freed(locks), std::vector<Rank>{2});
}

TEST(RangeLocks, AreReleasedByWhoHoldsThem) {
  RangeLocks locks;
  locks.acquire({0, 7, Range{0, 10, true}, {}});
  EXPECT_EQ(freed(locks), std::vector<Rank>{0});
  EXPECT_FALSE(locks.release(1, 7));
  EXPECT_FALSE(locks.release(0, 8));
  EXPECT_TRUE(locks.release(0, 7));
}

// Who holds what a request waits for.
std::vector<Rank> before(const RangeLocks& locks, Rank rank, std::uint32_t number) {
  std::vector<Rank> ranks;
  for (const RangeLocks::Held& held : locks.before(rank, number)) ranks.push_back(held.rank);
  return ranks;
}

TEST(RangeLocks, TellWhoHoldsWhatIsWaitedFor) {
  RangeLocks locks;
  locks.acquire({0, 1, Range{0, 10, false}, {}});
  locks.acquire({1, 4, Range{5, 15, false}, {}});
  locks.acquire({2, 1, Range{20, 30, true}, {}});
  EXPECT_EQ(freed(locks), (std::vector<Rank>{0, 1, 2}));
  EXPECT_EQ(before(locks, 1, 4), std::vector<Rank>{}) << "it has it";
  locks.acquire({3, 1, Range{8, 20, true}, {}});
  locks.acquire({4, 2, Range{8, 9, false}, {}});
  EXPECT_EQ(freed(locks), std::vector<Rank>{});
  EXPECT_EQ(before(locks, 3, 1), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(before(locks, 4, 2), std::vector<Rank>{}) << "it waits for one that waits";
  EXPECT_EQ(before(locks, 4, 1), std::vector<Rank>{}) << "there is no such request";
  EXPECT_TRUE(locks.release(1, 4));
  EXPECT_EQ(before(locks, 3, 1), std::vector<Rank>{0});
}

}  // namespace
}  // namespace fairlead::dsm
