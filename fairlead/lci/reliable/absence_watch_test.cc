#include "fairlead/lci/reliable/absence_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace fairlead::lci {
namespace {

// Plain memory that both sides change, only ever in turn.
struct Shared {
  long sum = 0;
  long worked = 0;
  bool left = false;
  std::atomic<long> told{0};  // `worked`, for a client that is outside

  static bool work(void* self) {
    auto& shared = *static_cast<Shared*>(self);
    ++shared.sum;
    ++shared.worked;
    shared.told.store(shared.worked);
    return shared.left;
  }
};

void wait_until_worked(const Shared& shared, long times) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (shared.told.load() < times && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  ASSERT_GE(shared.told.load(), times);
}

TEST(AbsenceWatch, WorksWhileTheClientIsAwayAndOnlyWhenThereIsWork) {
  Shared shared;
  AbsenceWatch watch(true, &Shared::work, &shared);
  if (!watch.works()) GTEST_SKIP() << "no membarrier here";
  for (long time = 1; time <= 3; ++time) {
    {
      const AbsenceWatch::Call call(watch);
      watch.announce();
    }
    wait_until_worked(shared, time);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const AbsenceWatch::Call call(watch);
    EXPECT_EQ(shared.worked, time);
  }
}

TEST(AbsenceWatch, ComesAgainWhileWorkIsLeft) {
  Shared shared;
  shared.left = true;
  AbsenceWatch watch(true, &Shared::work, &shared);
  if (!watch.works()) GTEST_SKIP() << "no membarrier here";
  {
    const AbsenceWatch::Call call(watch);
    watch.announce();
  }
  wait_until_worked(shared, 4);
  const AbsenceWatch::Call call(watch);
  shared.left = false;
}

TEST(AbsenceWatch, IsWokenAgainAfterItWentToSleep) {
  Shared shared;
  AbsenceWatch watch(true, &Shared::work, &shared);
  if (!watch.works()) GTEST_SKIP() << "no membarrier here";
  for (long time = 1; time <= 2; ++time) {
    {
      const AbsenceWatch::Call call(watch);
      watch.announce();
    }
    wait_until_worked(shared, time);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it sleeps after 50
  }
}

TEST(AbsenceWatch, StaysOutOfCallsHoweverLongAndNested) {
  Shared shared;
  AbsenceWatch watch(true, &Shared::work, &shared);
  const AbsenceWatch::Call outer(watch);
  watch.announce();
  {
    const AbsenceWatch::Call inner(watch);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(shared.worked, 0);
  EXPECT_EQ(shared.told.load(), 0);
}

TEST(AbsenceWatch, AndManyCallsOfTheClientLoseNothing) {
  Shared shared;
  AbsenceWatch watch(true, &Shared::work, &shared);
  if (!watch.works()) GTEST_SKIP() << "no membarrier here";
  constexpr long kCalls = 2'000'000;
  for (long i = 0; i < kCalls; ++i) {
    const AbsenceWatch::Call call(watch);
    ++shared.sum;
    watch.announce();
  }
  wait_until_worked(shared, 1);
  const AbsenceWatch::Call call(watch);
  EXPECT_EQ(shared.sum, kCalls + shared.worked);
}

TEST(AbsenceWatch, DoesNothingWhereNoneIsWanted) {
  Shared shared;
  AbsenceWatch watch(false, &Shared::work, &shared);
  EXPECT_FALSE(watch.works());
  {
    const AbsenceWatch::Call call(watch);
    watch.announce();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(shared.told.load(), 0);
}

}  // namespace
}  // namespace fairlead::lci
