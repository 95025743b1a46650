// Hold model: with n events pending, take the first and push one a random time later.
#include "fairlead/sim/event_queue.h"

#include <benchmark/benchmark.h>

#include <queue>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::sim {
namespace {

constexpr std::uint64_t kNodes = 1024;

// Steps of a modelled machine: 20 us on average, so that all three tiers of the wheel are met.
Ps hold_time(Prng& random) {
  const std::uint64_t bits = random.next();
  if ((bits & 63) == 0) return Ps{static_cast<std::int64_t>(bits >> 37)};  // up to 134 us
  return Ps{static_cast<std::int64_t>((bits >> 32) % 40'000'000)};
}

Event event_at(Ps at, std::uint64_t sequence) {
  return Event{at,       EventKey(static_cast<std::uint32_t>(sequence % kNodes), sequence, 1),
               nullptr,  nullptr,
               sequence, 0};
}

struct BinaryHeap {
  struct After {
    bool operator()(const Event& a, const Event& b) const { return before(b, a); }
  };
  std::priority_queue<Event, std::vector<Event>, After> heap;
  void push(const Event& event) { heap.push(event); }
  Event pop() {
    const Event first = heap.top();
    heap.pop();
    return first;
  }
};

template <class Queue>
void hold(benchmark::State& state) {
  Queue queue;
  Prng random(1);
  std::uint64_t sequence = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    queue.push(event_at(hold_time(random), sequence++));
  }
  for (auto _ : state) {
    const Event first = queue.pop();
    queue.push(event_at(first.at + hold_time(random), sequence++));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(hold<EventQueue>)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);
BENCHMARK(hold<BinaryHeap>)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);

}  // namespace
}  // namespace fairlead::sim

BENCHMARK_MAIN();
