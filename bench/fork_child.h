// Processes of a benchmark that never outlive it: one left behind would spin for ever, beside what
// is measured next.
#pragma once
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace bench {

// fork() of a child that is killed when this process ends.
inline pid_t fork_child() {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it ended before that
  return 0;
}

}  // namespace bench
