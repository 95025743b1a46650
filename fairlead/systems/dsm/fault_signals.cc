#include "fairlead/systems/dsm/fault_signals.h"

#include "fairlead/base/pass_signal_on.h"

namespace fairlead::dsm {

void FaultSignals::take(Handler handler) {
  struct sigaction mine {};
  mine.sa_sigaction = handler;
  // Not masked: the handler waits for the network, where other faults may end in other handlers.
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&mine.sa_mask);
  sigaction(SIGBUS, &mine, &bus_);
  sigaction(SIGSEGV, &mine, &segv_);
  // Where it is blocked, the first fault ends the process.
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGBUS);
  sigaddset(&faults, SIGSEGV);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

void FaultSignals::release() const {
  sigaction(SIGBUS, &bus_, nullptr);
  sigaction(SIGSEGV, &segv_, nullptr);
}

void FaultSignals::pass_on(int signal, siginfo_t* info, void* machine) const {
  pass_signal_on(signal == SIGBUS ? bus_ : segv_, signal, info, machine);
}

}  // namespace fairlead::dsm
