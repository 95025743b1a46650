// SIGBUS and SIGSEGV, which accesses to pages of the shared heap raise: one rank takes both, and
// what is no fault of the heap's goes to who had them before.
#pragma once
#include <signal.h>

namespace fairlead::dsm {

class FaultSignals {
 public:
  using Handler = void (*)(int signal, siginfo_t* info, void* machine);

  // From now on `handler` gets both signals, until release(). It may wait for the network: neither
  // signal is blocked while it runs.
  void take(Handler handler);
  // Who had them before has them again.
  void release() const;
  // From the handler: a signal that is not the heap's. Safe in a handler.
  void pass_on(int signal, siginfo_t* info, void* machine) const;

 private:
  struct sigaction bus_ {};
  struct sigaction segv_ {};
};

}  // namespace fairlead::dsm
