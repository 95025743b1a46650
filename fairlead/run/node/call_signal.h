// SIGUSR1 asks a rank for what it waits in (rank_call.h): it prints a line, and goes on.
#pragma once
#include <string_view>

#include "fairlead/run/context.h"

namespace fairlead::run {

// Has the rank whose process this is answer by print_call(), unless the program does something with
// that signal itself. Does nothing where ranks are fibers of one process.
void answer_call_signal(Context& context);
// By a handler of the system's own.
void answer_call_signal(Context& context, void (*handler)(int));

// "fairlead: rank 1 of 4 (process 77): MPI_Recv from rank 2, ..., for 12.3 s". `over`: said instead
// where it is not empty. Safe in a signal handler.
void print_call(Context& context, std::string_view over);

}  // namespace fairlead::run
