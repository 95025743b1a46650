#include "fairlead/systems/dsm/fault_signals.h"

#include <cerrno>

#include "fairlead/base/pass_signal_on.h"
#include "fairlead/systems/dsm/core.h"

namespace fairlead::dsm {
namespace {

void on_fault(int signal, siginfo_t* info, void* machine) {
  const int error = errno;
  Core* const core = Core::current();
  if (core == nullptr) {
    pass_signal_on({}, signal, info, machine);
  } else if (!core->fault(info->si_addr, machine)) {
    pass_signal_on(core->former(signal), signal, info, machine);
  }
  errno = error;
}

}  // namespace

void install_handlers(Core&, struct sigaction& former_bus, struct sigaction& former_segv) {
  struct sigaction mine {};
  mine.sa_sigaction = on_fault;
  // Not masked: the handler waits for the network, where other faults may end in other handlers.
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&mine.sa_mask);
  sigaction(SIGBUS, &mine, &former_bus);
  sigaction(SIGSEGV, &mine, &former_segv);
}

void restore_handlers(const Core& core) {
  sigaction(SIGBUS, &core.former(SIGBUS), nullptr);
  sigaction(SIGSEGV, &core.former(SIGSEGV), nullptr);
}

}  // namespace fairlead::dsm
