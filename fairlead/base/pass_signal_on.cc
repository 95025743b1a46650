#include "fairlead/base/pass_signal_on.h"

namespace fairlead {

void pass_signal_on(const struct sigaction& former, int signal, siginfo_t* info, void* machine) {
  if ((former.sa_flags & SA_SIGINFO) != 0) {
    former.sa_sigaction(signal, info, machine);
  } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    former.sa_handler(signal);
  } else {
    struct sigaction none {};
    none.sa_handler = SIG_DFL;
    sigaction(signal, &none, nullptr);
    // One that somebody sent is not made again.
    if (info->si_code <= 0) raise(signal);
  }
}

}  // namespace fairlead
