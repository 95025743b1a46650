// For handlers of signals that are this library's only for some addresses: all others go to whoever
// had the signal before.
#pragma once
#include <signal.h>

namespace fairlead {

// What a handler does with a signal that is not its own. `former`: what was installed before it. By
// default the access is made again after this returns, and then ends the process as it would have;
// a signal that somebody sent is sent again. Safe in a handler.
void pass_signal_on(const struct sigaction& former, int signal, siginfo_t* info, void* machine);

}  // namespace fairlead
