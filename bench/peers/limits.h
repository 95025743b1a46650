// What the programs that measure the machine's limits share: clock, figures, pinned processes.
#pragma once
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/fork_child.h"

namespace limits {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The line that the MPI programs print (figure.h).
inline void print_figure(const char* figure, long bytes, double value, const char* unit) {
  std::printf("{\"figure\":\"%s\",\"bytes\":%ld,\"value\":%.9g,\"unit\":\"%s\"}\n", figure, bytes,
              value, unit);
  std::fflush(stdout);
}

// To the processor that process number `process` gets.
inline void pin(int process) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int skip = process % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// Runs `body(process)` in `count` processes, process 0 being a child like the others. They are
// pinned unless there are more than processors: then MPI's ranks beside them are not, either.
inline void in_processes(int count, const std::function<void(int)>& body) {
  std::vector<pid_t> children;
  std::fflush(stdout);
  for (int process = 0; process < count; ++process) {
    const pid_t child = bench::fork_child();
    if (child == 0) {
      if (count <= sysconf(_SC_NPROCESSORS_ONLN)) pin(process);
      body(process);
      std::fflush(stdout);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
}

}  // namespace limits
