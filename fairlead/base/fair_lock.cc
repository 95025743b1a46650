#include "fairlead/base/fair_lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <climits>
#include <ctime>

#include "fairlead/base/wait_ladder.h"

namespace fairlead {
namespace {

// Looks at the lock, then looks with the processor given away between, then sleep. A futex that is
// woken on another processor takes 30 us, a yield less than 1.
constexpr int kLooks = 100;
constexpr int kYields = 2000;

bool can_fence_others() {
  static const bool can =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return can;
}

void fence_others() { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

// Tickets share bits; who is woken for another's looks again.
std::uint32_t bit_of(std::uint32_t ticket) { return std::uint32_t{1} << (ticket % 32); }

long futex(const std::atomic<std::uint32_t>& word, int what, std::uint32_t value,
           const timespec* until, std::uint32_t bits) {
  return syscall(SYS_futex, &word, what | FUTEX_PRIVATE_FLAG, value, until, nullptr, bits);
}

}  // namespace

FairLock::FairLock(Bias bias) : asymmetric_(can_fence_others()) {
  if (bias == Bias::creator && asymmetric_) biased_to_ = creator_;
}

void FairLock::end_bias() {
  biased_to_.store(kNobody);
  fence_others();
  // This is done once in the lock's life: who waits polls, so that unlock() need not look for it.
  for (int i = 0; inside_.load(std::memory_order_acquire); ++i) {
    if (i < kLooks) {
      cpu_pause();
    } else if (i < kLooks + kYields) {
      sched_yield();
    } else {
      const timespec nap{0, 50'000};
      nanosleep(&nap, nullptr);
    }
  }
}

void FairLock::wait_for(std::uint32_t mine) {
  const auto served = [&] { return serving_.load(std::memory_order_acquire) == mine; };
  for (int i = 0; i < kLooks; ++i) {
    if (served()) return;
    cpu_pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (served()) return;
    sched_yield();
  }
  sleepers_.fetch_add(1);
  if (asymmetric_) {
    fence_others();
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  for (;;) {
    const std::uint32_t now = serving_.load(std::memory_order_acquire);
    if (now == mine) break;
    futex(serving_, FUTEX_WAIT_BITSET, now, nullptr, bit_of(mine));
  }
  sleepers_.fetch_sub(1);
}

void FairLock::wake(std::uint32_t ticket) {
  futex(serving_, FUTEX_WAKE_BITSET, INT_MAX, nullptr, bit_of(ticket));
}

void Nap::wait(std::int64_t most_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec most{most_ns / kSecond, most_ns % kSecond};
  futex(word_, FUTEX_WAIT, kAsleep, &most, 0);
}

void Nap::rouse() { futex(word_, FUTEX_WAKE, INT_MAX, nullptr, 0); }

}  // namespace fairlead
