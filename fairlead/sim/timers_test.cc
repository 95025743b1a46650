#include "fairlead/sim/timers.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::sim {
namespace {

using Fired = std::vector<std::pair<std::int64_t, std::uint64_t>>;

struct Bench {
  static void record(void* context, std::uint64_t id) {
    auto& bench = *static_cast<Bench*>(context);
    bench.fired.emplace_back(bench.engine.now().count, id);
  }
  Engine engine{1};
  TimerSet set{engine, 0};
  Fired fired;
};

TEST(Timers, FireInOrderOfDeadlineThenArming) {
  Bench bench;
  Timer a(&Bench::record, &bench, 1), b(&Bench::record, &bench, 2), c(&Bench::record, &bench, 3);
  bench.set.arm(a, Ps{100});
  bench.set.arm(b, Ps{50});
  bench.set.arm(c, Ps{100});
  EXPECT_EQ(bench.set.earliest(), Ps{50});
  EXPECT_EQ(bench.set.size(), 3u);
  // Expect: armed again for the same time, a comes after c.
  bench.set.arm(a, Ps{100});
  bench.engine.run_until_idle();
  EXPECT_EQ(bench.fired, Fired({{50, 2}, {100, 3}, {100, 1}}));
  EXPECT_TRUE(bench.set.empty());
  EXPECT_FALSE(a.armed());
}

TEST(Timers, CancelledDoNotFire) {
  Bench bench;
  Timer a(&Bench::record, &bench, 1), b(&Bench::record, &bench, 2);
  bench.set.arm(a, Ps{10});
  bench.set.arm(b, Ps{20});
  EXPECT_TRUE(bench.set.cancel(a));
  EXPECT_FALSE(bench.set.cancel(a));
  bench.engine.run_until_idle();
  EXPECT_EQ(bench.fired, Fired({{20, 2}}));
}

TEST(Timers, PushingBackCostsNoEvents) {
  Bench bench;
  Timer a(&Bench::record, &bench, 1);
  for (std::int64_t i = 0; i < 1000; ++i) bench.set.arm(a, Ps{1000 + i});
  // Expect: one event at the first deadline, which re-arms, and one that fires.
  EXPECT_EQ(bench.engine.pending(), 1u);
  bench.engine.run_until_idle();
  EXPECT_EQ(bench.fired, Fired({{1999, 1}}));
  EXPECT_EQ(bench.engine.executed(), 2u);
}

TEST(Timers, MovedEarlierFiresEarlierAndOnce) {
  Bench bench;
  Timer a(&Bench::record, &bench, 1);
  bench.set.arm(a, Ps{1000});
  bench.set.arm(a, Ps{10});
  bench.engine.run_until_idle();
  EXPECT_EQ(bench.fired, Fired({{10, 1}}));
}

// Re-arms itself four times and cancels a second timer meanwhile.
struct Periodic {
  static void tick(void* context, std::uint64_t) {
    auto& self = *static_cast<Periodic*>(context);
    if (++self.ticks < 5) self.set.arm(self.timer, self.engine.now() + Ps{100});
    if (self.ticks == 3) self.set.cancel(self.other);
  }
  Engine engine{1};
  TimerSet set{engine, 0};
  Timer timer{&tick, this};
  Timer other{&tick, this};
  int ticks = 0;
};

TEST(Timers, HandlersMayArmAndCancel) {
  Periodic periodic;
  periodic.set.arm(periodic.timer, Ps{100});
  periodic.set.arm(periodic.other, Ps{300});
  periodic.engine.run_until_idle();
  // Expect: at 300 `other`, armed before the timer was again, ticks first and moves it to 400.
  EXPECT_EQ(periodic.engine.now(), Ps{500});
  EXPECT_EQ(periodic.ticks, 5);
}

TEST(Timers, ThousandsAgreeWithASet) {
  Bench bench;
  Prng random(11);
  std::deque<Timer> timers;
  for (std::uint64_t i = 0; i < 5000; ++i) timers.emplace_back(&Bench::record, &bench, i);
  std::set<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>> model;  // time, order, id
  std::vector<std::pair<std::int64_t, std::uint64_t>> where(timers.size());
  Fired expected;
  std::uint64_t order = 0;
  const auto run_to = [&](std::int64_t time) {
    while (!model.empty() && std::get<0>(*model.begin()) <= time) {
      expected.emplace_back(std::get<0>(*model.begin()), std::get<2>(*model.begin()));
      model.erase(model.begin());
    }
    bench.engine.run_until(Ps{time});
  };
  for (int i = 0; i < 200'000; ++i) {
    const auto id = random.below(timers.size());
    if (timers[id].armed()) model.erase({where[id].first, where[id].second, id});
    if (random.chance(0.3)) {
      bench.set.cancel(timers[id]);
    } else {
      // Coarse deadlines, so that ties are common.
      const std::int64_t now = bench.engine.now().count;
      const std::int64_t at = now + static_cast<std::int64_t>(random.below(100)) * 1000;
      bench.set.arm(timers[id], Ps{at});
      where[id] = {at, order};
      model.emplace(at, order++, id);
    }
    if (random.chance(0.02)) {
      run_to(bench.engine.now().count + static_cast<std::int64_t>(random.below(3000)));
      ASSERT_EQ(bench.fired.size(), expected.size());
      ASSERT_EQ(bench.set.size(), model.size());
    }
  }
  run_to(bench.engine.now().count + 1'000'000);
  EXPECT_EQ(bench.fired, expected);
  EXPECT_GT(expected.size(), 50'000u);
  EXPECT_TRUE(bench.set.empty());
}

}  // namespace
}  // namespace fairlead::sim
