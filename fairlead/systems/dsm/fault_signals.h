// SIGBUS and SIGSEGV, which accesses to pages of the shared heap raise: one rank takes both, and
// what is no fault of the heap's goes to who had them before. Their handler has a stack of its own,
// so that it can say what is wrong where the program's lies in the heap, or is at its end.
#pragma once
#include <signal.h>

namespace fairlead::dsm {

class FaultSignals {
 public:
  using Handler = void (*)(int signal, siginfo_t* info, void* machine);

  // From now on `handler` gets both signals, until release(). It may wait for the network: neither
  // signal is blocked while it runs. Thread: the one that will access the heap. std::bad_alloc:
  // there is no address space for its stack.
  void take(Handler handler);
  // Who had them before has them again.
  void release();
  // Nobody had this signal before: passed on, it ends the process. Safe in a handler.
  bool ends_process(int signal) const;
  // From the handler: a signal that is not the heap's. Safe in a handler.
  void pass_on(int signal, siginfo_t* info, void* machine) const;

 private:
  const struct sigaction& former(int signal) const { return signal == SIGBUS ? bus_ : segv_; }

  void* stack_ = nullptr;
  stack_t former_stack_{};
  struct sigaction bus_ {};
  struct sigaction segv_ {};
};

}  // namespace fairlead::dsm
