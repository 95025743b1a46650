// SIGUSR1 asks a rank for the call that it waits in: it prints a line, and goes on.
#pragma once
#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {

// Has `process` tell its long waits, where others can read them, and lets SIGUSR1 print them unless
// the program does something with that signal itself. Does nothing where ranks are fibers of one
// process.
void tell_waits(Process& process);

}  // namespace fairlead::mpi
