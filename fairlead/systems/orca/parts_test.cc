// Guards, the horizon, the balance and the census, without a network.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/systems/orca/balance.h"
#include "fairlead/systems/orca/horizon.h"
#include "fairlead/systems/orca/invocation.h"
#include "fairlead/systems/orca/processes.h"

namespace fairlead::orca {
namespace {

using Attempt = Guards::Attempt;

// An invocation that is known by the generation of its caller's token.
Invocation numbered(std::uint32_t number) {
  Invocation invocation;
  invocation.caller.generation = number;
  return invocation;
}

TEST(OrcaGuards, AreTriedAgainFromTheFirstAfterEachWrite) {
  Guards guards;
  for (const std::uint32_t number : {1u, 2u, 3u, 4u}) guards.add(numbered(number));
  std::vector<std::uint32_t> tried;
  bool third_has_run = false;
  guards.retry([&](Invocation& each) {
    const std::uint32_t number = each.caller.generation;
    tried.push_back(number);
    if (number == 1) return third_has_run ? Attempt::wrote : Attempt::waits;
    if (number == 2) return Attempt::read;
    if (number == 3) return third_has_run = true, Attempt::wrote;
    return Attempt::waits;
  });
  // Expect: a read goes on behind itself; a write lets the first be tried again.
  EXPECT_EQ(tried, (std::vector<std::uint32_t>{1, 2, 3, 1, 4}));
  EXPECT_FALSE(guards.empty());
  const std::deque<Invocation> left = guards.take_all();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().caller.generation, 4u);
  EXPECT_TRUE(guards.empty());
}

// Expect: reads that wait on one replica alone do not change which write goes first.
TEST(OrcaGuards, OrderWritesWhateverReadsWait) {
  const auto order_of = [](const std::vector<std::uint32_t>& waiting) {
    Guards guards;
    for (const std::uint32_t number : waiting) guards.add(numbered(number));
    std::vector<std::uint32_t> writes;
    guards.retry([&](Invocation& each) {
      const std::uint32_t number = each.caller.generation;
      if (number >= 100) return writes.size() >= 2 ? Attempt::read : Attempt::waits;
      if (number == 1 && writes.empty()) return Attempt::waits;
      writes.push_back(number);
      return Attempt::wrote;
    });
    return writes;
  };
  const std::vector<std::uint32_t> alone = order_of({1, 2, 3});
  EXPECT_EQ(alone, (std::vector<std::uint32_t>{2, 1, 3}));
  EXPECT_EQ(order_of({100, 1, 101, 2, 102, 3, 103}), alone);
}

TEST(OrcaPendings, AreTakenOnce) {
  Pendings pendings;
  Pending first;
  Pending second;
  const std::uint32_t a = pendings.add(first);
  const std::uint32_t b = pendings.add(second);
  EXPECT_EQ(pendings.take(b), &second);
  // Expect: a number twice, or one that was never given, is nobody's.
  EXPECT_EQ(pendings.take(b), nullptr);
  EXPECT_EQ(pendings.take(9), nullptr);
  EXPECT_EQ(pendings.add(second), b);
  EXPECT_EQ(pendings.take(a), &first);
}

TEST(OrcaHorizon, ReleasesByNeedThenArrival) {
  Horizon<int> horizon;
  std::vector<int> ran;
  const auto run = [&ran](int each) { ran.push_back(each); };
  horizon.defer(3, 31);
  horizon.defer(2, 21);
  horizon.defer(3, 32);
  horizon.defer(5, 51);
  EXPECT_FALSE(horizon.reached(1));
  horizon.reach(1);
  horizon.release(run);
  EXPECT_TRUE(ran.empty());
  EXPECT_TRUE(horizon.reached(1));
  horizon.reach(3);
  horizon.release(run);
  EXPECT_EQ(ran, (std::vector<int>{21, 31, 32}));
  horizon.reach(9);
  horizon.release(run);
  EXPECT_EQ(ran.back(), 51);
}

TEST(OrcaBalance, ReplicatesWhatOthersRead) {
  using Advice = Balance::Advice;
  Balance balance;
  for (std::uint64_t i = 0; i + 1 < Balance::kWindow; ++i) balance.read(false);
  // Expect: nothing before the window's end.
  EXPECT_EQ(balance.advise(false, 8), Advice::stay);
  balance.write(true);
  EXPECT_EQ(balance.advise(false, 8), Advice::replicate);
  // Expect: a new window.
  EXPECT_EQ(balance.advise(false, 8), Advice::stay);
}

TEST(OrcaBalance, GathersWhatIsWrittenMore) {
  using Advice = Balance::Advice;
  Balance balance;
  for (std::uint64_t i = 0; i < Balance::kWindow; ++i) balance.write(i % 8 == 0);
  EXPECT_EQ(balance.advise(true, 8), Advice::gather);
  // Expect: with as many reads of others that a single copy would cost about the same, it stays.
  for (std::uint64_t i = 0; i < Balance::kWindow; ++i) balance.write(i % 8 == 0);
  balance.read(false, 3 * Balance::kWindow);
  EXPECT_EQ(balance.advise(true, 8), Advice::stay);
  for (std::uint64_t i = 0; i < Balance::kWindow; ++i) {
    i % 2 == 0 ? balance.write(false) : balance.read(false);
  }
  EXPECT_EQ(balance.advise(false, 8), Advice::stay);
}

TEST(OrcaBalance, LeavesAloneWhatOnlyItsOwnerUses) {
  Balance balance;
  for (std::uint64_t i = 0; i < Balance::kWindow; ++i) balance.read(true);
  EXPECT_EQ(balance.advise(false, 8), Balance::Advice::stay);
}

TEST(OrcaCensus, EndsWithTheLastProcess) {
  Census census;
  census.forked();
  census.forked();
  EXPECT_FALSE(census.ended());
  EXPECT_FALSE(census.ended());
  EXPECT_EQ(census.live(), 1u);
  EXPECT_TRUE(census.ended());
}

}  // namespace
}  // namespace fairlead::orca
