#include "fairlead/sim/fiber_guard.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "fairlead/base/check.h"

namespace fairlead::sim {
namespace {
constexpr std::size_t kSignalStackBytes = 64 * 1024;
constexpr std::uint64_t kMagic = 0x6c64'6165'6c72'6961u;
}  // namespace

// At the low end of the signal stack, where the handler finds it: a handler is given no context,
// but it can ask the kernel which stack it runs on.
struct FiberGuard::SignalStack {
  std::uint64_t magic = kMagic;
  FiberGuard* first = nullptr;  // who shares it
  struct sigaction previous_action {};
  stack_t previous_stack{};
};

FiberGuard::SignalStack* FiberGuard::here() {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || now.ss_size != kSignalStackBytes) return nullptr;
  auto* const candidate = static_cast<SignalStack*>(now.ss_sp);
  return candidate->magic == kMagic ? candidate : nullptr;
}

FiberGuard::FiberGuard() : stack_(here()) {
  if (stack_ == nullptr) stack_ = set_up();
  next_ = stack_->first;
  stack_->first = this;
}

FiberGuard::SignalStack* FiberGuard::set_up() {
  void* const memory =
      mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FAIRLEAD_CHECK(memory != MAP_FAILED, "no memory for a signal stack");
  auto* const stack = new (memory) SignalStack;
  stack_t ours{};
  ours.ss_sp = memory;
  ours.ss_size = kSignalStackBytes;
  FAIRLEAD_CHECK(sigaltstack(&ours, &stack->previous_stack) == 0);
  struct sigaction action {};
  action.sa_sigaction = &FiberGuard::on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  FAIRLEAD_CHECK(sigaction(SIGSEGV, &action, &stack->previous_action) == 0);
  return stack;
}

FiberGuard::~FiberGuard() {
  FiberGuard** link = &stack_->first;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  if (stack_->first != nullptr) return;
  struct sigaction current {};
  sigaction(SIGSEGV, nullptr, &current);
  const bool ours =
      (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &FiberGuard::on_fault;
  if (ours) sigaction(SIGSEGV, &stack_->previous_action, nullptr);
  sigaltstack(&stack_->previous_stack, nullptr);
  munmap(stack_, kSignalStackBytes);
}

bool FiberGuard::watch(const FiberPool& pool) {
  for (const FiberPool*& entry : pools_) {
    if (entry != nullptr) continue;
    entry = &pool;
    return true;
  }
  return false;
}

void FiberGuard::unwatch(const FiberPool& pool) {
  for (const FiberPool*& entry : pools_) {
    if (entry == &pool) entry = nullptr;
  }
}

void FiberGuard::on_fault(int signal, siginfo_t* info, void*) {
  stack_t running{};
  const SignalStack* ours = nullptr;
  if (sigaltstack(nullptr, &running) == 0 && (running.ss_flags & SS_ONSTACK) != 0) {
    const auto* const candidate = static_cast<const SignalStack*>(running.ss_sp);
    if (candidate->magic == kMagic) ours = candidate;
  }
  for (const FiberGuard* guard = ours != nullptr ? ours->first : nullptr; guard != nullptr;
       guard = guard->next_) {
    for (const FiberPool* pool : guard->pools_) {
      const Fiber* const fiber = pool != nullptr ? pool->overflowed(info->si_addr) : nullptr;
      if (fiber == nullptr) continue;
      pool->report_overflow(*fiber);
      std::abort();
    }
  }
  // Not ours: the instruction faults again, into the handler of before.
  if (ours != nullptr) {
    sigaction(signal, &ours->previous_action, nullptr);
  } else {
    std::signal(signal, SIG_DFL);
  }
}

}  // namespace fairlead::sim
