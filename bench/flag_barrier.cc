// The least that a barrier of processes on too few cores can do: each sets a flag of its own in
// shared memory and yields until all have; no library. Prints microseconds of one barrier, as JSON.
// bench/peers/gasnet.py has it beside the barriers of libraries.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr int kRanksMost = 64;

struct Shared {
  struct alignas(64) Flag {
    std::atomic<std::uint64_t> count;
  } flags[kRanksMost];
};

double barriers(Shared& shared, int rank, int ranks, std::uint64_t times) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t turn = 1; turn <= times; ++turn) {
    shared.flags[rank].count.store(turn, std::memory_order_release);
    for (int other = 0; other < ranks; ++other) {
      while (shared.flags[other].count.load(std::memory_order_acquire) < turn) sched_yield();
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return took.count() * 1e6 / static_cast<double>(times);
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = std::clamp(argc > 1 ? std::atoi(argv[1]) : 8, 1, kRanksMost);
  const auto times = static_cast<std::uint64_t>(std::max(argc > 2 ? std::atoi(argv[2]) : 20000, 1));
  void* const at =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 1;
  Shared& shared = *::new (at) Shared{};
  for (int rank = 1; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    (void)barriers(shared, rank, ranks, times);
    _exit(0);
  }
  const double us = barriers(shared, 0, ranks, times);
  while (wait(nullptr) > 0) {
  }
  std::printf("{\"ranks\":%d,\"barrier_us\":%.3f}\n", ranks, us);
  return 0;
}
