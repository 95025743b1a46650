#include "fairlead/systems/sisci/callback_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace fairlead::sisci {

CallbackThread::~CallbackThread() {
  stop();
  thread_.join();  // a callback may end the program
}

void CallbackThread::start() {
  if (stopped_.load()) return;
  started_ = true;
  doorbell_ = port_.doorbell();
  if (doorbell_ < 0) return;
  nudge_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!nudge_.valid()) return;
  // Where there can be none, the program's calls run the callbacks.
  (void)thread_.start("fairlead-sisci", [this] { run(); });
}

void CallbackThread::stop() {
  stopped_.store(true);
  const std::uint64_t one = 1;
  if (nudge_.valid()) (void)!::write(nudge_.get(), &one, sizeof one);
}

void CallbackThread::run() {
  pollfd fds[] = {{doorbell_, POLLIN, 0}, {nudge_.get(), POLLIN, 0}};
  while (!stopped_.load()) {
    if (::poll(fds, 2, -1) < 0) continue;
    const lci::PortTurn turn(port_);
    if (stopped_.load()) return;
    // One that finds nothing is what silences the doorbell.
    while (port_.poll() > 0) {
    }
    callbacks_.run();
  }
}

}  // namespace fairlead::sisci
