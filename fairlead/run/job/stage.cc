#include "fairlead/run/job/stage.h"

#include <sys/prctl.h>

#include "fairlead/run/job/job_plan.h"

namespace fairlead::run {

Stage::Stage() {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // With SIGCHLD ignored the kernel would reap a child before we can ask how it ended.
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, &child_action_);
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &mask_);
}

Stage::~Stage() {
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  ::sigaction(SIGCHLD, &child_action_, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

Fd Stage::watch_signals(bool forward) const {
  sigset_t blocked = mask_;
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : kForwardedSignals) {
    if (!forward) break;
    sigaddset(&blocked, signal);
    sigaddset(&wanted, signal);
  }
  Fd signals(forward ? ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK) : -1);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  return signals;
}

}  // namespace fairlead::run
