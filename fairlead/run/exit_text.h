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

// What becomes of a job whose output the command cannot pass on: `stream` 0 is the standard output,
// 1 the error stream.
struct OutputLoss {
  int stream;
  int error;  // of write(); EPIPE: nobody reads it any more
};
// As a shell's pipeline has it for a reader that is gone: 128 + SIGPIPE; else 1.
int output_exit_code(const OutputLoss& loss);
std::string output_text(const OutputLoss& loss);

}  // namespace fairlead::run
