#include "fairlead/systems/rsm/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace fairlead::rsm {

void Signals::came(bool accumulates, bool rung) {
  const bool dropped = !accumulates && pending() > 0;
  if (!dropped) came_.ok.fetch_add(1, std::memory_order_release);
  if (!dropped && !rung) ring();
  if (dropped && rung) take_ring();
}

void Signals::take() {
  ++taken_;
  take_ring();
}

void Signals::ring() {
  if (!event_.valid()) return;
  const std::uint64_t one = 1;
  // It cannot be full: that takes 2^64 - 2 signals.
  (void)!::write(event_.get(), &one, sizeof one);
}

void Signals::take_ring() {
  if (!event_.valid()) return;
  std::uint64_t one;
  (void)!::read(event_.get(), &one, sizeof one);
}

bool Signals::announced() const {
  if (!event_.valid() || pending() > 0) return false;
  pollfd event{event_.get(), POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

int Signals::descriptor() {
  if (event_.get() < 0) {
    event_ =
        Fd(eventfd(static_cast<unsigned>(pending()), EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
  }
  return event_.get();
}

void FarEvent::open(const EventName& name) {
  Fd event = open_event(name);
  event_ = event.valid() ? std::make_shared<const Fd>(std::move(event)) : nullptr;
}

bool FarEvent::ring() const {
  if (event_ == nullptr) return false;
  const std::uint64_t one = 1;
  return ::write(event_->get(), &one, sizeof one) == sizeof one;
}

}  // namespace fairlead::rsm
