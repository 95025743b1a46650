#include "fairlead/run/exit_text.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <cerrno>

namespace fairlead::run {

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  const char* meaning = ::sigdescr_np(signal);
  if (name == nullptr || meaning == nullptr) return fmt::format("signal {}", signal);
  return fmt::format("SIG{} (signal {}: {})", name, signal, meaning);
}

std::string signal_advice(int signal) {
  switch (signal) {
    case SIGKILL:
      return "somebody sent kill -9, or the kernel ran out of memory: see dmesg";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
      return "an error of the program: run it again under a debugger, or after ulimit -c unlimited";
    case SIGABRT:
      return "the program gave up: its last lines of output say why";
    default:
      return "";
  }
}

int output_exit_code(const OutputLoss& loss) {
  return loss.error == EPIPE ? signal_exit_code(SIGPIPE) : 1;
}

std::string output_text(const OutputLoss& loss) {
  const char* const stream = loss.stream == 0 ? "standard output" : "standard error stream";
  if (loss.error == EPIPE) return fmt::format("nobody reads the ranks' {} any more", stream);
  return fmt::format("the ranks' {} cannot be written: {}; what they wrote is lost", stream,
                     ::strerror(loss.error));
}

}  // namespace fairlead::run
