#include "fairlead/run/node/pulse_table.h"

#include <gtest/gtest.h>

namespace fairlead::run {
namespace {

constexpr Ps kSilence = seconds(2);

// This node is 1 of 0..3.
class Pulses : public testing::Test {
 protected:
  // The clock goes on in steps a thread would make; who was lost on the way.
  std::vector<std::uint32_t> until(Ps at) {
    std::vector<std::uint32_t> lost;
    while (now_ < at) {
      now_ = now_ + milliseconds(100);
      table_.look(now_, [&](std::uint32_t node) { lost.push_back(node); });
    }
    return lost;
  }
  bool running(std::uint32_t node, std::uint64_t count) {
    return table_.heard(node, count, NodeState::running, now_);
  }

  Ps now_{};
  PulseTable table_{4, 1, kSilence, Ps{}};
};

TEST_F(Pulses, SilentNodesAreLostOnceAndThisOneNever) {
  until(seconds(1));
  EXPECT_TRUE(running(0, 1));
  EXPECT_TRUE(running(3, 1));
  // Expect: who never spoke is lost after the silence, counted from the start
  EXPECT_EQ(until(milliseconds(2500)), std::vector<std::uint32_t>{2});
  EXPECT_TRUE(running(0, 2));
  EXPECT_EQ(until(milliseconds(4000)), std::vector<std::uint32_t>{3});
  EXPECT_EQ(until(milliseconds(10'000)), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(until(seconds(60)).empty());
  // Expect: a lost node stays lost
  EXPECT_FALSE(running(0, 3));
  EXPECT_EQ(table_.state(0), NodeState::lost);
}

TEST_F(Pulses, OldOnesAndStrangersAreNotBelieved) {
  EXPECT_TRUE(running(0, 5));
  // Expect: the same once more, an older one, this node's own, and a node that is none
  EXPECT_FALSE(running(0, 5));
  EXPECT_FALSE(running(0, 4));
  EXPECT_FALSE(running(1, 9));
  EXPECT_FALSE(running(4, 9));
  EXPECT_TRUE(running(0, 6));
}

TEST_F(Pulses, WhoIsDoneMayBeSilent) {
  EXPECT_TRUE(table_.heard(0, 1, NodeState::done, now_));
  EXPECT_TRUE(table_.heard(2, 1, NodeState::done, now_));
  // Expect: a pulse that was sent before and came later takes nothing back
  EXPECT_TRUE(running(2, 2));
  EXPECT_EQ(until(seconds(30)), std::vector<std::uint32_t>{3});
  EXPECT_EQ(table_.state(2), NodeState::done);
}

TEST_F(Pulses, WhoWasStoppedBlamesNobody) {
  EXPECT_TRUE(running(0, 1) && running(2, 1) && running(3, 1));
  until(seconds(1));
  // Expect: ten seconds without a look are this process's own
  now_ = seconds(11);
  std::vector<std::uint32_t> lost;
  table_.look(now_, [&](std::uint32_t node) { lost.push_back(node); });
  EXPECT_TRUE(lost.empty());
  EXPECT_EQ(until(seconds(14)), (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST_F(Pulses, NeverIsNever) {
  PulseTable table(2, 0, kNever, Ps{});
  for (int s = 0; s < 10'000; ++s) table.look(seconds(s), [](std::uint32_t) { FAIL(); });
}

}  // namespace
}  // namespace fairlead::run
