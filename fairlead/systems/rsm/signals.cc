#include "fairlead/systems/rsm/signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace fairlead::rsm {

void Signals::came(bool accumulates) {
  if (!accumulates && pending() > 0) return;
  came_.ok.fetch_add(1, std::memory_order_release);
  if (event_.get() < 0) return;
  const std::uint64_t one = 1;
  // It cannot be full: that takes 2^64 - 2 signals.
  (void)!::write(event_.get(), &one, sizeof one);
}

void Signals::take() {
  ++taken_;
  if (event_.get() < 0) return;
  std::uint64_t one;
  (void)!::read(event_.get(), &one, sizeof one);
}

int Signals::descriptor() {
  if (event_.get() < 0) {
    event_ =
        Fd(eventfd(static_cast<unsigned>(pending()), EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
  }
  return event_.get();
}

}  // namespace fairlead::rsm
