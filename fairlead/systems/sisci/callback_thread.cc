#include "fairlead/systems/sisci/callback_thread.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>

namespace fairlead::sisci {

CallbackThread::~CallbackThread() {
  stop();
  if (!thread_.joinable()) return;
  // A callback may end the program.
  thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
}

void CallbackThread::start() {
  if (stopped_.load()) return;
  started_ = true;
  doorbell_ = port_.doorbell();
  if (doorbell_ < 0) return;
  nudge_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!nudge_.valid()) return;
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread(&CallbackThread::run, this);
  } catch (const std::system_error&) {
    // The program's calls run the callbacks.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void CallbackThread::stop() {
  stopped_.store(true);
  const std::uint64_t one = 1;
  if (nudge_.valid()) (void)!::write(nudge_.get(), &one, sizeof one);
}

void CallbackThread::run() {
  (void)::pthread_setname_np(::pthread_self(), "fairlead-sisci");
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
