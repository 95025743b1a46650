// A switch between two stacks: ours beside Boost.Context. An item is one switch (there or back).
// The *_fp variants let every fiber compute with differing sticky floating-point flags, as real
// programs do; the scheduler's flags differ from the fibers'.
#include "fairlead/sim/fiber.h"

#include <benchmark/benchmark.h>

#include <vector>

#ifdef FAIRLEAD_BENCH_BOOST
#include <boost/context/detail/fcontext.hpp>
#endif

namespace fairlead::sim {
namespace {

// Leaves the inexact flag set (1/3) or clear, by the parity of the fiber.
struct Work {
  bool floating_point = false;
  bool odd = false;
};

inline void compute(const Work& work) {
  if (!work.floating_point) return;
  double x = work.odd ? 1.0 : 2.0;
  benchmark::DoNotOptimize(x);
  x = x / 3.0;
  benchmark::DoNotOptimize(x);
}

// Sets MXCSR's sticky flags once, so that contexts differ from the start.
void set_sticky_flags(unsigned flags) {
#ifdef __x86_64__
  unsigned mxcsr = (__builtin_ia32_stmxcsr() & ~0x3fu) | flags;
  __builtin_ia32_ldmxcsr(mxcsr);
#else
  (void)flags;
#endif
}

void fairlead_entry(Fiber& self, void* argument) {
  const Work work = *static_cast<const Work*>(argument);
  if (work.floating_point) set_sticky_flags(self.id() % 64);
  for (;;) {
    compute(work);
    self.suspend();
  }
}

void fairlead_switch(benchmark::State& state, bool floating_point) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  FiberPoolOptions options;
  options.max_fibers = count;
  const auto pool = std::move(FiberPool::create(options).value());
  Work works[2] = {{floating_point, false}, {floating_point, true}};
  std::vector<Fiber*> fibers;
  for (std::uint32_t i = 0; i < count; ++i) {
    fibers.push_back(pool->spawn(i, &fairlead_entry, &works[i % 2]).value());
  }
  for (auto _ : state) {
    for (Fiber* fiber : fibers) fiber->resume();
  }
  state.SetItemsProcessed(state.iterations() * 2 * count);
  state.counters["switch"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 2 * count,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  set_sticky_flags(0);
}
BENCHMARK_CAPTURE(fairlead_switch, integer, false)->Arg(2)->Arg(1000)->Arg(100'000);
BENCHMARK_CAPTURE(fairlead_switch, fp, true)->Arg(2)->Arg(1000)->Arg(100'000);

#ifdef FAIRLEAD_BENCH_BOOST
namespace boost_context = boost::context::detail;

struct BoostStart {
  Work work;
  unsigned id;
};

void boost_entry(boost_context::transfer_t from) {
  const BoostStart start = *static_cast<const BoostStart*>(from.data);
  if (start.work.floating_point) set_sticky_flags(start.id % 64);
  for (;;) {
    compute(start.work);
    from = boost_context::jump_fcontext(from.fctx, nullptr);
  }
}

void boost_switch(benchmark::State& state, bool floating_point) {
  const auto count = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kStack = 16 * 1024;
  std::vector<std::byte> stacks(count * kStack);
  std::vector<boost_context::fcontext_t> contexts;
  for (std::size_t i = 0; i < count; ++i) {
    BoostStart start{{floating_point, i % 2 != 0}, static_cast<unsigned>(i)};
    std::byte* const top = stacks.data() + (i + 1) * kStack - i % 16 * 192;
    const auto fresh = boost_context::make_fcontext(top, kStack - 3072, &boost_entry);
    contexts.push_back(boost_context::jump_fcontext(fresh, &start).fctx);
  }
  for (auto _ : state) {
    for (boost_context::fcontext_t& context : contexts) {
      context = boost_context::jump_fcontext(context, nullptr).fctx;
    }
  }
  state.SetItemsProcessed(state.iterations() * 2 * state.range(0));
  state.counters["switch"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 2 * static_cast<double>(count),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  set_sticky_flags(0);
}
BENCHMARK_CAPTURE(boost_switch, integer, false)->Arg(2)->Arg(1000);
BENCHMARK_CAPTURE(boost_switch, fp, true)->Arg(2)->Arg(1000);
#endif

void nothing(Fiber&, void*) {}

// Spawn, first run, reclaim, on a stack that was used before.
void spawn_run_reclaim(benchmark::State& state) {
  const auto pool = std::move(FiberPool::create(FiberPoolOptions{}).value());
  for (auto _ : state) {
    Fiber* const fiber = pool->spawn(0, &nothing, nullptr).value();
    fiber->resume();
    pool->reclaim(*fiber);
  }
}
BENCHMARK(spawn_run_reclaim);

}  // namespace
}  // namespace fairlead::sim

BENCHMARK_MAIN();
