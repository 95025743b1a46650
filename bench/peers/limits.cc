// What this machine can do at all, measured beside the peers: a message through a ring in shared
// memory, a stream of them, a copy, a barrier of flags, the launch of processes. Prints the lines
// that the MPI programs print.
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "bench/peers/limits.h"

namespace {

using namespace limits;  // NOLINT: the functions below

constexpr int kSlots = 64;
constexpr int kBarrierProcesses = 8;

// Flag and payload in one cache line: one line per message crosses between the cores.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> sequence;
  std::uint64_t payload;
};

struct Ring {
  std::array<Slot, kSlots> slots;
};

struct alignas(64) Flag {
  std::atomic<std::uint64_t> epoch;
};

struct Shared {
  Ring there;
  Ring back;
  std::array<Flag, kBarrierProcesses> flags;
};

Shared* make_shared() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("limits: mmap");
    std::exit(1);
  }
  return new (memory) Shared();
}

void push(Ring& ring, std::uint64_t n) {
  Slot& slot = ring.slots[n % kSlots];
  slot.payload = n;
  slot.sequence.store(n + 1, std::memory_order_release);
}

std::uint64_t pop(Ring& ring, std::uint64_t n) {
  Slot& slot = ring.slots[n % kSlots];
  while (slot.sequence.load(std::memory_order_acquire) != n + 1) {
  }
  return slot.payload;
}

// A message of two lines, as one of 64 bytes with its envelope is: the second line is written first
// and asked for with each look at the first one.
void push_two(Ring& ring, std::uint64_t n) {
  ring.slots[(2 * n + 1) % kSlots].payload = n;
  push(ring, 2 * n);
}
std::uint64_t pop_two(Ring& ring, std::uint64_t n) {
  const Slot& slot = ring.slots[2 * n % kSlots];
  const Slot& more = ring.slots[(2 * n + 1) % kSlots];
  while (slot.sequence.load(std::memory_order_acquire) != 2 * n + 1) __builtin_prefetch(&more);
  return slot.payload + more.payload;
}

template <class Push, class Pop>
void latency_limit(long bytes, Push&& write, Pop&& read) {
  constexpr std::uint64_t kCount = 300'000;
  Shared* shared = make_shared();
  in_processes(2, [&](int process) {
    const double begin = seconds_now();
    for (std::uint64_t i = 0; i < kCount; ++i) {
      if (process == 0) write(shared->there, i);
      read(process == 0 ? shared->back : shared->there, i);
      if (process == 1) write(shared->back, i);
    }
    if (process == 0)
      print_figure("latency", bytes, (seconds_now() - begin) / kCount / 2 * 1e6, "us");
  });
  munmap(shared, sizeof *shared);
}

// As rate.c does it: windows as long as the ring, an answer to each.
void rate_limit() {
  constexpr std::uint64_t kWindows = 150'000;
  Shared* shared = make_shared();
  in_processes(2, [shared](int process) {
    Ring& ring = shared->there;
    const double begin = seconds_now();
    for (std::uint64_t w = 0; w < kWindows; ++w) {
      for (std::uint64_t i = w * kSlots; i < (w + 1) * kSlots; ++i) {
        if (process == 0)
          push(ring, i);
        else
          pop(ring, i);
      }
      if (process == 0)
        pop(shared->back, w);
      else
        push(shared->back, w);
    }
    if (process == 1) {
      print_figure("rate", 8, kWindows * kSlots / (seconds_now() - begin), "1/s");
    }
  });
  munmap(shared, sizeof *shared);
}

void copy_limit() {
  for (const std::size_t size : {std::size_t{4096}, std::size_t{65536}, std::size_t{262144},
                                 std::size_t{1} << 20, std::size_t{4} << 20}) {
    std::vector<char> from(size, 1);
    std::vector<char> to(size, 2);
    const std::size_t count = (std::size_t{512} << 20) / size;
    const double begin = seconds_now();
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(to.data(), from.data(), size);
      // The compiler must not join the copies.
      asm volatile("" : : "r"(to.data()), "r"(from.data()) : "memory");
    }
    const double each = (seconds_now() - begin) / static_cast<double>(count);
    print_figure("latency", static_cast<long>(size), each * 1e6, "us");
    print_figure("bandwidth", static_cast<long>(size), static_cast<double>(size) / each / 1e6,
                 "MB/s");
  }
}

// Everybody raises its flag and looks at all others, yielding where there are more processes than
// processors: no collective operation on this machine can be much faster.
void barrier_limit(int processes, std::uint64_t count, const char* figure) {
  Shared* shared = make_shared();
  const bool yields = processes > 2;
  in_processes(processes, [=](int process) {
    std::vector<double> each(count);
    double begin = seconds_now();
    for (std::uint64_t epoch = 1; epoch <= count; ++epoch) {
      const double before = seconds_now();
      shared->flags[static_cast<std::size_t>(process)].epoch.store(epoch,
                                                                   std::memory_order_release);
      for (int other = 0; other < processes; ++other) {
        while (shared->flags[static_cast<std::size_t>(other)].epoch.load(
                   std::memory_order_acquire) < epoch) {
          if (yields) sched_yield();
        }
      }
      each[epoch - 1] = seconds_now() - before;
      // Starting the processes is not part of it.
      if (epoch == 1) begin = seconds_now();
    }
    if (process != 0) return;
    const double mean = (seconds_now() - begin) / static_cast<double>(count - 1);
    std::sort(each.begin(), each.end());
    print_figure(figure, 0, mean * 1e6, "us");
    char tail[64];
    std::snprintf(tail, sizeof tail, "%s_p999", figure);
    print_figure(tail, 0, each[count - 1 - count / 1000] * 1e6, "us");
  });
  munmap(shared, sizeof *shared);
}

void launch_limit(int processes, const char* figure) {
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  const double begin = seconds_now();
  std::vector<pid_t> children(static_cast<std::size_t>(processes));
  for (pid_t& child : children) {
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0) child = 0;
  }
  for (const pid_t child : children) {
    if (child > 0) waitpid(child, nullptr, 0);
  }
  print_figure(figure, 0, (seconds_now() - begin) * 1e3, "ms");
}

}  // namespace

int main() {
  latency_limit(8, push, pop);
  latency_limit(64, push_two, pop_two);
  rate_limit();
  copy_limit();
  barrier_limit(2, 300'000, "barrier");
  barrier_limit(kBarrierProcesses, 50'000, "barrier_8_on_2");
  launch_limit(2, "startup_2");
  launch_limit(32, "startup_32");
  return 0;
}
