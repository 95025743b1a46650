// Names the fiber that ran into its guard page: a SIGSEGV handler on a signal stack of its own.
#pragma once
#include <array>
#include <csignal>

#include "fairlead/sim/fiber.h"

namespace fairlead::sim {

// While it lives, the calling thread's stack overflows in the watched pools are reported as
// FiberPool::report_overflow does, and the process aborts; any other fault goes to the handler that
// was there before. Made and destroyed in the thread that runs the fibers. Several may live in one
// thread and end in any order: they share a handler and its stack.
class FiberGuard {
 public:
  static constexpr int kMaxPools = 4;

  FiberGuard();
  FiberGuard(const FiberGuard&) = delete;
  FiberGuard& operator=(const FiberGuard&) = delete;
  ~FiberGuard();

  // False when kMaxPools are watched already. `pool` lives until unwatch or longer than this.
  [[nodiscard]] bool watch(const FiberPool& pool);
  void unwatch(const FiberPool& pool);

 private:
  struct SignalStack;
  // The one of the calling thread; nullptr: none.
  static SignalStack* here();
  static SignalStack* set_up();
  static void on_fault(int signal, siginfo_t* info, void* context);

  SignalStack* stack_;
  FiberGuard* next_ = nullptr;  // of those that share it
  std::array<const FiberPool*, kMaxPools> pools_{};
};

}  // namespace fairlead::sim
