// How the end of a process reads: for people, and as the exit code a shell would have.
#pragma once
#include <string>

namespace fairlead::run {

// "SIGKILL (Killed)"; "signal 40" for one without a name.
std::string signal_text(int signal);
// What to try after a process was ended by `signal`; empty: nothing in particular.
std::string signal_advice(int signal);
// 128 + signal, as shells have it.
constexpr int signal_exit_code(int signal) { return 128 + signal; }

}  // namespace fairlead::run
