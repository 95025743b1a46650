#include "fairlead/base/library_thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead {

int LibraryThread::start(const char* name, std::function<void()> body) {
  FAIRLEAD_CHECK(!started(), "a thread of the library was started twice");
  process_ = ::getpid();
  // A thread inherits which signals are blocked.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    thread_ = std::thread([name, body = std::move(body)] {
      (void)::pthread_setname_np(::pthread_self(), name);
      body();
    });
  } catch (const std::system_error& refused) {
    error = refused.code().value();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

bool LibraryThread::runs() const { return started() && process_ == ::getpid(); }

void LibraryThread::join() {
  if (!started()) return;
  runs() && !is_current() ? thread_.join() : thread_.detach();
}

}  // namespace fairlead
