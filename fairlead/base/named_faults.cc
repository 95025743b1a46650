#include "fairlead/base/named_faults.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/base/pass_signal_on.h"

namespace fairlead {
namespace {

using System = NamedFaults::System;

// Which systems are watched, and by how many ranks of this process each.
struct Watched {
  const System* system = nullptr;
  const void* library = nullptr;  // where it was loaded
  unsigned ranks = 0;
};
std::array<Watched, NamedFaults::kMost> watched;
constexpr std::array<int, 2> kSignals = {SIGSEGV, SIGBUS};
std::array<struct sigaction, 2> former;

const void* library_of(const void* code) {
  Dl_info found{};
  return dladdr(code, &found) != 0 ? found.dli_fbase : nullptr;
}

const Watched* watched_at(const void* library) {
  for (const Watched& one : watched) {
    if (one.ranks > 0 && one.library == library) return &one;
  }
  return nullptr;
}

// The exported name of a call that has `prefix`, or nullptr.
const char* call_named(const char* symbol, const char* prefix) {
  if (symbol == nullptr) return nullptr;
  if (symbol[0] == 'p' && std::strncmp(symbol + 1, prefix, std::strlen(prefix)) == 0) ++symbol;
  return std::strncmp(symbol, prefix, std::strlen(prefix)) == 0 ? symbol : nullptr;
}

struct FoundCall {
  const System* system = nullptr;
  const char* name = nullptr;
};

// The outermost call of a system between the program's code and the fault.
FoundCall find_call() {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const void* const own = library_of(reinterpret_cast<const void*>(&find_call));
  const void* const c_library = library_of(reinterpret_cast<const void*>(&std::abort));
  FoundCall call;
  for (int i = 0; i < count; ++i) {
    Dl_info at{};
    // Return addresses are behind the call.
    const void* const code = static_cast<const char*>(frames[static_cast<std::size_t>(i)]) - 1;
    if (dladdr(code, &at) == 0) break;
    if (const Watched* const one = watched_at(at.dli_fbase)) {
      const char* const name = call_named(at.dli_sname, one->system->prefix);
      if (name != nullptr) call = {one->system, name};
      continue;
    }
    if (at.dli_fbase != own && at.dli_fbase != c_library) break;
  }
  return call;
}

const char* what_is_there(const siginfo_t& fault) {
  if (fault.si_signo == SIGSEGV && fault.si_code == SEGV_MAPERR) return "where nothing is mapped";
  if (fault.si_signo == SIGSEGV && fault.si_code == SEGV_ACCERR) {
    return "in a page that may not be touched so, as one that is read only";
  }
  return "which is no address of memory";
}

void name(const siginfo_t& fault) {
  const FoundCall call = find_call();
  Rank rank = 0;
  if (call.system == nullptr || !call.system->caller(&rank)) return;
  std::array<char, 320> text;
  const int length =
      std::snprintf(text.data(), text.size(), "rank %u: %s: %s: %s %u met the address %p, %s\n",
                    rank, call.system->name, call.name, call.system->process, rank, fault.si_addr,
                    what_is_there(fault));
  if (length > 0) (void)!::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length));
}

// Whoever had the signal before may mend it, as one who keeps pages does. Who cannot leaves it to
// the system's default, which ends the process when the access is made again after this.
void on_fault(int signal, siginfo_t* info, void* machine) {
  const int error = errno;
  pass_signal_on(former[signal == SIGSEGV ? 0 : 1], signal, info, machine);
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) name(*info);
  errno = error;
}

bool any_watched() {
  for (const Watched& one : watched) {
    if (one.ranks > 0) return true;
  }
  return false;
}

Watched& watched_of(const System& system) {
  Watched* free = nullptr;
  for (Watched& one : watched) {
    if (one.ranks > 0 && one.system == &system) return one;
    if (one.ranks == 0 && free == nullptr) free = &one;
  }
  FAIRLEAD_CHECK(free != nullptr, "more than {} systems name faults", watched.size());
  return *free;
}

}  // namespace

NamedFaults::NamedFaults(const System& system) : system_(system) {
  const bool is_first = !any_watched();
  Watched& mine = watched_of(system);
  mine.system = &system;
  mine.library = library_of(system.code);
  ++mine.ranks;
  if (!is_first) return;
  // The first one loads what unwinds the stack, which the handler must not.
  void* here = nullptr;
  (void)backtrace(&here, 1);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  // On a stack of its own where there is one: the fault may be that of a stack that is full.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &former[i]);
}

NamedFaults::~NamedFaults() {
  --watched_of(system_).ranks;
  if (any_watched()) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    sigaction(kSignals[i], nullptr, &now);
    const bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault;
    if (ours) sigaction(kSignals[i], &former[i], nullptr);
  }
}

}  // namespace fairlead
