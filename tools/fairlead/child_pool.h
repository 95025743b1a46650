// Several runs of this binary side by side, so many at a time, each with its error output in a file
// of its own; for commands that run a program many times.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {

// One at a time in a process: while it lives SIGINT and SIGTERM end what runs instead of this
// process. Its files go with it.
class ChildPool {
 public:
  // Error: no temporary folder can be made.
  static Result<ChildPool> make(std::size_t slots);
  ChildPool(ChildPool&&) = default;
  ChildPool& operator=(ChildPool&&) = delete;
  // Ends what still runs.
  ~ChildPool();

  struct Ended {
    std::size_t index;
    int exit_code;
    double seconds;
  };

  // A free file name of child `index`, for what the child is to write.
  std::string path(std::size_t index, const char* what) const;
  bool full() const { return running_.size() >= slots_; }
  bool idle() const { return running_.empty(); }
  // `command` begins with an absolute path; its standard output goes to the file `output`. Error:
  // no process could be made.
  Result<void> start(std::size_t index, const std::vector<std::string>& command,
                     const std::string& output = "/dev/null");
  // Blocks until a child has ended. Nothing: a signal asked for the end, and none runs any more.
  std::optional<Ended> next();
  // Why the child failed, from what it wrote.
  std::string reason(const Ended& ended) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Child {
    std::size_t index;
    Clock::time_point begin;
  };
  class Signals;

  ChildPool(std::size_t slots, TemporaryFolder folder);
  void end_all();

  std::size_t slots_;
  TemporaryFolder folder_;
  std::map<pid_t, Child> running_;
  std::unique_ptr<Signals> signals_;
};

}  // namespace fairlead::tools
