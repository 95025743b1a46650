// The one waiting policy of the code base: spin -> pause -> yield -> sleep, its steps chosen from
// ranks and processors. Who waits polls, and asks the ladder what to do after a poll found nothing.
#pragma once
#include <sched.h>
#include <cstdint>
#include <ctime>

#include "fairlead/base/units.h"

namespace fairlead {

// Filled by the launcher from ranks per core, affinity and cgroup limits. Measured on a virtual
// machine of two cores: futex wake across cores 30 us, sched_yield to another process 0.8 us.
struct WaitPlan {
  std::uint32_t spins = 2000;       // polls without a pause
  std::uint32_t pauses = 2000;      // polls with a processor pause between
  Ps yield_for = milliseconds(2);   // then polls with sched_yield between, for this long
  Ps sleep_max = milliseconds(20);  // then sleeps of at most this, ended by an arrival
  // A yield that took longer went to somebody who computes: for a while it sleeps at once instead,
  // as the scheduler soon lets run who wakes, but not who yields. 0: yields whatever they cost.
  Ps crowded{};
};

// Every rank has a core of its own.
constexpr WaitPlan wait_plan_dedicated() { return WaitPlan{}; }
// More runnable ranks than cores: who has nothing to do lets the next one run, at once.
constexpr WaitPlan wait_plan_oversubscribed() {
  return WaitPlan{0, 0, milliseconds(4), milliseconds(20)};
}
// Ranks that are fibers of one thread: sleeping is how the next one gets to run.
constexpr WaitPlan wait_plan_fibers() { return WaitPlan{0, 0, Ps{0}, milliseconds(20)}; }

// Ranks in virtual time, where a look costs what it costs: who has nothing to do sleeps until
// something happens.
constexpr WaitPlan wait_plan_virtual() { return WaitPlan{0, 0, Ps{0}, kNever}; }

class WaitLadder {
 public:
  enum class Step : std::uint8_t { spin, pause, yield, sleep };

  explicit WaitLadder(const WaitPlan& plan) : plan_(&plan) {}

  // Something happened: back to the first rung.
  void reset() { idle_ = 0; }
  // Polls left before the first rung that gives the processor away; who can poll cheaply takes
  // them in a row and counts them by skip().
  std::uint32_t looks() const {
    const std::uint64_t all = std::uint64_t{plan_->spins} + plan_->pauses;
    return idle_ < all ? static_cast<std::uint32_t>(all - idle_) : 0;
  }
  void skip(std::uint32_t looks) { idle_ += looks; }
  // After work, where others have this processor too: yields, unless that cost much lately.
  void give_way();
  // The rung after one more fruitless poll.
  Step next() {
    const std::uint64_t n = idle_++;
    if (n < plan_->spins) return Step::spin;
    if (n < std::uint64_t{plan_->spins} + plan_->pauses) return Step::pause;
    return next_slow();
  }

 private:
  Step next_slow();
  Step next_watchful(bool first);
  bool yield_cost(std::int64_t ns, std::int64_t now_ns);

  const WaitPlan* plan_;
  std::uint64_t idle_ = 0;
  std::int64_t yield_until_ns_ = 0;
  bool sleeping_ = false;
  // Where yields are timed.
  std::int64_t yielded_ns_ = 0;
  std::int64_t crowded_until_ns_ = 0;
  std::int64_t crowded_for_ns_ = 0;
};

// One processor pause (x86 PAUSE, ARM YIELD).
inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Takes the next rung; sleep() is the last one.
template <class Sleep>
void climb(WaitLadder& ladder, Sleep&& sleep) {
  switch (ladder.next()) {
    case WaitLadder::Step::spin:
      break;
    case WaitLadder::Step::pause:
      cpu_pause();
      break;
    case WaitLadder::Step::yield:
      sched_yield();
      break;
    case WaitLadder::Step::sleep:
      sleep();
      break;
  }
}

// CLOCK_MONOTONIC, in nanoseconds.
inline std::int64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace fairlead
