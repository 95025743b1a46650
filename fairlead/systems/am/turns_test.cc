#include "fairlead/systems/am/turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::am {
namespace {

TEST(Turns, OneThreadAtATimeIsInTheLibrary) {
  Turns turns;
  turns.share();
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 1000; ++turn) {
        const Turn outer(turns);
        const Turn inner(turns);  // as a call of a handler
        const int before = count;
        count = before + 1;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  // Expect: no turn was lost to another one.
  EXPECT_EQ(count, 4000);
}

TEST(Turns, WhoLetsOthersInComesAfterThem) {
  Turns turns;
  turns.share();
  std::atomic<bool> had_one{false};
  turns.take();
  std::thread other([&] {
    const Turn its(turns);
    had_one = true;
  });
  // Expect: it ends, as the other thread has its turn once it has come.
  while (!had_one) turns.let_others();
  turns.give();
  other.join();
  EXPECT_TRUE(had_one);
}

TEST(Turns, CostNothingWhereThereIsOneThread) {
  Turns turns;
  const Turn first(turns);
  turns.share();
  // Expect: the first turn, of before, is none that others wait for.
  std::thread([&] { const Turn its(turns); }).join();
  EXPECT_TRUE(turns.shared());
}

}  // namespace
}  // namespace fairlead::am
