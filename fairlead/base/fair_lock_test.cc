#include "fairlead/base/fair_lock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

class FairLockOf : public testing::TestWithParam<FairLock::Bias> {};
INSTANTIATE_TEST_SUITE_P(Biases, FairLockOf,
                         testing::Values(FairLock::Bias::none, FairLock::Bias::creator));

TEST_P(FairLockOf, ExcludesThreadsThatSpinYieldAndSleep) {
  FairLock lock(GetParam());
  constexpr int kThreads = 6;
  constexpr int kRounds = 2000;
  int count = 0;  // guarded by the lock
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        lock.lock();
        ++count;
        // Now and then so long that the others sleep.
        if (t == 0 && i % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        lock.unlock();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(count, kThreads * kRounds);
  EXPECT_FALSE(lock.contended());
}

TEST_P(FairLockOf, IsGivenInTheOrderOfArrival) {
  FairLock lock(GetParam());
  lock.lock();
  std::vector<int> order;  // guarded by the lock
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    const std::uint64_t alone = lock.queue().alone;
    threads.emplace_back([&, t] {
      lock.lock();
      order.push_back(t);
      lock.unlock();
    });
    while (lock.queue().word->load() != alone + static_cast<std::uint64_t>(t) + 1) {
      std::this_thread::yield();
    }
  }
  EXPECT_TRUE(lock.contended());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.contended());
  lock.unlock();
}

// The creator takes the lock again and again when the bias ends, at any of its instructions.
TEST(FairLock, IsHeldByOneThreadWhenItsBiasEnds) {
  for (int round = 0; round < 300; ++round) {
    FairLock lock(FairLock::Bias::creator);
    int holders = 0;  // guarded by the lock, as the others
    int most = 0;
    int taken = 0;
    bool came = false;
    int own = 0;
    std::thread other;
    const auto hold = [&] {
      most = std::max(most, ++holders);
      ++taken;
      --holders;
    };
    for (int i = 0;; ++i) {
      lock.lock();
      hold();
      lock.unlock();
      ++own;
      if (i == round) {
        other = std::thread([&] {
          lock.lock();
          hold();
          came = true;
          lock.unlock();
        });
      }
      lock.lock();
      const bool over = came;
      lock.unlock();
      if (over) break;
    }
    other.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(taken, own + 1);
    EXPECT_FALSE(lock.contended());
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  }
}

// A holder by bias that stays inside sees that another thread wants the lock.
TEST(FairLock, TellsTheOneWithTheBiasWhoWaits) {
  FairLock lock(FairLock::Bias::creator);
  lock.lock();
  EXPECT_FALSE(lock.contended());
  const FairLock::Queue queue = lock.queue();
  EXPECT_EQ(queue.word->load(), queue.alone);
  bool inside = false;  // guarded by the lock
  std::thread other([&] {
    lock.lock();
    inside = true;
    lock.unlock();
  });
  while (queue.word->load() == queue.alone) std::this_thread::yield();
  // Long enough for it to sleep.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(lock.contended());
  EXPECT_FALSE(inside);
  lock.unlock();
  other.join();
  EXPECT_TRUE(inside);
}

TEST(Nap, EndsWhenItIsCalledOrTimeIsOver) {
  Nap nap;
  EXPECT_FALSE(nap.sleep(1'000'000, [] { return true; }));
  EXPECT_FALSE(nap.sleep(3'600'000'000'000, [] { return false; }));
  EXPECT_FALSE(nap.called());
  std::thread caller([&] {
    while (!nap.asleep()) std::this_thread::yield();
    nap.call();
  });
  EXPECT_TRUE(nap.sleep(60'000'000'000, [] { return true; }));
  caller.join();
  EXPECT_TRUE(nap.called());
  EXPECT_TRUE(nap.sleep(60'000'000'000, [] { return true; }));
}

}  // namespace
}  // namespace fairlead
