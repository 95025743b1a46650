#include "fairlead/lci/memory/target_queues.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fairlead::lci {
namespace {

struct Op {
  std::uint32_t id = 0;
  Op* next_free = nullptr;
  Op* next = nullptr;
  std::uint64_t turn = 0;
  Rank rank = 0;
  int number = 0;

  void clear() { number = 0; }
};

class TargetQueuesTest : public ::testing::Test {
 protected:
  void add(Rank rank, int number) {
    Op* const op = queues_.make();
    op->rank = rank;
    op->number = number;
    queues_.push_back(op);
  }
  // The numbers sent, in order, where there is no room to `full`, and for `room` in all.
  std::vector<int> sent(const std::set<Rank>& full, std::size_t room = 100) {
    std::vector<int> numbers;
    const int count = queues_.advance([&](Op& op) {
      if (full.contains(op.rank) || numbers.size() == room) return false;
      numbers.push_back(op.number);
      return true;
    });
    EXPECT_EQ(static_cast<std::size_t>(count), numbers.size());
    return numbers;
  }

  Backlog backlog_;
  TargetQueues<Op> queues_{backlog_};
};

TEST_F(TargetQueuesTest, WithRoomTheOrderIsThatOfTheCalls) {
  const Rank ranks[] = {1, 2, 1, 3, 2, 1, 1, 3};
  for (int i = 0; i < 8; ++i) add(ranks[i], i);
  EXPECT_EQ(backlog_.items, 8u);
  EXPECT_EQ(sent({}), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(queues_.empty());
  EXPECT_EQ(backlog_.items, 0u);
}

TEST_F(TargetQueuesTest, ARankWithoutRoomHoldsUpItsOwnOnly) {
  const Rank ranks[] = {1, 2, 1, 3, 2, 1};
  for (int i = 0; i < 6; ++i) add(ranks[i], i);
  EXPECT_EQ(sent({1}), (std::vector<int>{1, 3, 4}));
  add(2, 6);
  EXPECT_EQ(queues_.size(), 4u);
  EXPECT_EQ(queues_.front(1)->number, 0);
  EXPECT_EQ(queues_.front(3), nullptr);
  // Expect: by the order of calls again, once there is room
  EXPECT_EQ(sent({}, 2), (std::vector<int>{0, 2}));
  EXPECT_EQ(sent({}), (std::vector<int>{5, 6}));
}

TEST_F(TargetQueuesTest, WhatGoesToALostRankEnds) {
  for (int i = 0; i < 6; ++i) add(static_cast<Rank>(i % 2), i);
  std::vector<int> ended;
  queues_.remove_all(1, [&](Op& op) { ended.push_back(op.number); });
  queues_.remove_all(9, [&](Op&) { ADD_FAILURE(); });
  EXPECT_EQ(ended, (std::vector<int>{1, 3, 5}));
  EXPECT_EQ(sent({}), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(backlog_.items, 0u);
}

TEST_F(TargetQueuesTest, MemoryIsUsedAgain) {
  std::set<const Op*> seen;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 3; ++i) add(static_cast<Rank>(i), i);
    for (Rank rank = 0; rank < 3; ++rank) seen.insert(queues_.front(rank));
    (void)sent({});
  }
  EXPECT_LE(seen.size(), 4u);
}

}  // namespace
}  // namespace fairlead::lci
