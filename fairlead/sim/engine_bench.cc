// The engine with nothing modelled: what an event, an inline event, a sleep and a timer cost.
#include "fairlead/sim/engine.h"

#include <benchmark/benchmark.h>

#include <deque>

#include "fairlead/base/prng.h"
#include "fairlead/sim/task.h"
#include "fairlead/sim/timers.h"

namespace fairlead::sim {
namespace {

struct Hold {
  static void step(void* context, std::uint64_t a, std::uint64_t) {
    auto& self = *static_cast<Hold*>(context);
    const auto node = static_cast<std::uint32_t>(a % 1024);
    const Ps when = self.engine.now() + Ps{static_cast<std::int64_t>(self.random.next() >> 39)};
    self.engine.at(when, node, kFirstFreeKind, &step, &self, a);
  }
  Engine engine{1024};
  Prng random{1};
};

// The argument is the number of pending events; steps are up to 33 us.
void engine_hold(benchmark::State& state) {
  Hold hold;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    Hold::step(&hold, static_cast<std::uint64_t>(i), 0);
  }
  for (auto _ : state) hold.engine.step();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(engine_hold)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);

void sleeper(Task& self, void*) {
  for (;;) self.sleep_for(Ps{1'000'000 + self.id()});
}

// The argument is the number of tasks that sleep in turn; an item is one sleep.
void task_sleep(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  FiberPoolOptions options;
  options.max_fibers = count;
  const auto pool = std::move(FiberPool::create(options).value());
  Engine engine(count);
  std::deque<Task> tasks;
  for (std::uint32_t i = 0; i < count; ++i) {
    tasks.emplace_back(engine, *pool, i, i);
    if (!tasks.back().start(Ps{i}, &sleeper, nullptr).ok()) state.SkipWithError("no stack");
  }
  const std::uint64_t before = engine.executed();
  for (auto _ : state) engine.run_until(engine.now() + microseconds(10));
  state.SetItemsProcessed(static_cast<std::int64_t>(engine.executed() - before));
}
BENCHMARK(task_sleep)->Arg(1)->Arg(64)->Arg(1024)->Arg(10'000)->Arg(100'000);

// A retransmission timer pushed back, among as many armed as the argument says.
void timer_push_back(benchmark::State& state) {
  Engine engine(1);
  TimerSet set(engine, 0);
  std::deque<Timer> timers;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    timers.emplace_back([](void*, std::uint64_t) {}, nullptr);
    set.arm(timers.back(), Ps{1'000'000 + i});
  }
  Prng random(1);
  std::int64_t at = 2'000'000;
  for (auto _ : state) set.arm(timers[random.below(timers.size())], Ps{++at});
  state.SetItemsProcessed(state.iterations());
  for (Timer& timer : timers) set.cancel(timer);
}
BENCHMARK(timer_push_back)->Arg(16)->Arg(1024);

}  // namespace
}  // namespace fairlead::sim

BENCHMARK_MAIN();
