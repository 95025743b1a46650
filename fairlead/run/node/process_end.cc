#include "fairlead/run/node/process_end.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace fairlead::run {

ProcessEnd::ProcessEnd(std::uint32_t pid) : pid_(pid) {
  if (pid == 0) return;
#ifdef SYS_pidfd_open
  handle_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  gone_ = !handle_.valid() && errno == ESRCH;
#endif
}

bool ProcessEnd::ended() const {
  if (pid_ == 0 || gone_) return gone_;
  if (!handle_.valid()) return ::kill(static_cast<pid_t>(pid_), 0) != 0 && errno == ESRCH;
  pollfd end{handle_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

int ProcessEnd::append_poll(std::vector<pollfd>& polls) const {
  if (pid_ == 0) return -1;
  if (gone_) return 0;
  if (!handle_.valid()) return kLookMs;
  polls.push_back({handle_.get(), POLLIN, 0});
  return -1;
}

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have gone before the line above: then this process has another parent.
  constexpr int kNotStarted = 127;
  if (::getppid() != parent) ::_exit(kNotStarted);
}

}  // namespace fairlead::run
