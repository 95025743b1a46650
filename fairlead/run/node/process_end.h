// The ends of processes: whether one that is nobody's child here has ended, and ending with one.
#pragma once
#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "fairlead/base/fd.h"

namespace fairlead::run {

// The calling process, forked by `parent` of its own, is killed when that one ends.
void die_with(pid_t parent);

class ProcessEnd {
 public:
  // How often to look where the kernel has no pidfd (before 5.3).
  static constexpr int kLookMs = 100;

  ProcessEnd() = default;
  // pid 0: of another process namespace; it never ends, as far as can be seen.
  explicit ProcessEnd(std::uint32_t pid);

  std::uint32_t pid() const { return pid_; }
  // A system call.
  bool ended() const;
  // For poll(): adds what becomes readable at the end. Answers in how many ms at most ended() is
  // to be asked all the same; -1: when that is.
  int append_poll(std::vector<pollfd>& polls) const;

 private:
  std::uint32_t pid_ = 0;
  bool gone_ = false;  // there was no such process
  Fd handle_;
};

}  // namespace fairlead::run
