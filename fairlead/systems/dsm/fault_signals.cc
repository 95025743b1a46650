#include "fairlead/systems/dsm/fault_signals.h"

#include <sys/mman.h>

#include <cstddef>

#include "fairlead/base/pass_signal_on.h"
#include "fairlead/systems/dsm/memory.h"

namespace fairlead::dsm {
namespace {

// A fetch runs in it, with whatever upcalls come meanwhile: as much as a stack of a rank that is a
// fiber may have. It takes memory where it is used.
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
constexpr std::size_t kGuardBytes = 65536;

}  // namespace

void FaultSignals::take(Handler handler) {
  stack_ = map_sparse(kStackBytes);
  (void)mprotect(stack_, kGuardBytes, PROT_NONE);
  stack_t own{};
  own.ss_sp = stack_;
  own.ss_size = kStackBytes;
  sigaltstack(&own, &former_stack_);
  struct sigaction mine {};
  mine.sa_sigaction = handler;
  // Not masked: the handler waits for the network, where other faults may end in other handlers.
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_ONSTACK;
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

// The stack stays where the program has taken another one since, or this is another thread.
void FaultSignals::release() {
  sigaction(SIGBUS, &bus_, nullptr);
  sigaction(SIGSEGV, &segv_, nullptr);
  stack_t mine{};
  if (sigaltstack(nullptr, &mine) == 0 && mine.ss_sp == stack_ &&
      sigaltstack(&former_stack_, nullptr) == 0) {
    unmap_sparse(stack_, kStackBytes);
  }
}

bool FaultSignals::ends_process(int signal) const {
  const struct sigaction& before = former(signal);
  return (before.sa_flags & SA_SIGINFO) == 0 &&
         (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
}

void FaultSignals::pass_on(int signal, siginfo_t* info, void* machine) const {
  pass_signal_on(former(signal), signal, info, machine);
}

}  // namespace fairlead::dsm
