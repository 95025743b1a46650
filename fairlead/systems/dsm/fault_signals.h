// SIGBUS and SIGSEGV of the shared heap go to the rank's Core; all others to who had them before.
#pragma once
#include <signal.h>

namespace fairlead::dsm {

class Core;

void install_handlers(Core& core, struct sigaction& former_bus, struct sigaction& former_segv);
void restore_handlers(const Core& core);

}  // namespace fairlead::dsm
