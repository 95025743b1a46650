// What the process that runs a job looks like for the length of it, and as before afterwards.
#pragma once
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fairlead/base/fd.h"

namespace fairlead::run {

// A subreaper whose signals are all blocked until watch_signals().
class Stage {
 public:
  Stage();
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  const sigset_t& mask() const { return mask_; }
  // Unblocks what is not forwarded; returns the descriptor on which the forwarded signals arrive.
  Fd watch_signals(bool forward) const;

 private:
  int was_subreaper_ = 0;
  struct sigaction child_action_ {};
  sigset_t mask_{};
};

// Calls forward(signal) for each that has come on a signalfd. This process stops too when it was
// told to, after the ranks were, as the shell expects of its job.
template <class Forward>
void take_signals(int signals, Forward&& forward) {
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof info) == sizeof info) {
    forward(static_cast<int>(info.ssi_signo));
    if (info.ssi_signo == SIGTSTP) ::raise(SIGSTOP);
  }
}

}  // namespace fairlead::run
