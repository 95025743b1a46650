#include "fairlead/base/fair_lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

TEST(FairLock, ExcludesThreadsThatSpinYieldAndSleep) {
  FairLock lock;
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

TEST(FairLock, IsGivenInTheOrderOfArrival) {
  FairLock lock;
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
