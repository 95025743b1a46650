// Child processes of the command with their error output captured, several at a time.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// A folder that goes, with what is in it, when this does.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Starts `command` (an absolute path first) without input, its output and error output in the files
// named. It is killed when this process dies. Error: fork failed.
Result<pid_t> start_child(const std::vector<std::string>& command, const std::string& errors,
                          const std::string& output = "/dev/null");

struct ChildEnd {
  pid_t pid = -1;
  int exit_code = 0;  // 128 + signal for one that a signal ended
};
// Blocks until one child of this process has ended.
ChildEnd wait_child();
// As above, or until a handler of a signal has run: pid -1.
ChildEnd wait_child_or_signal();

// A file's content; empty where it cannot be read.
std::string file_text(const std::string& path);
// Why a `fairlead` child failed: the first line of its error output that the command itself wrote,
// or the last of all, the program's own.
std::string reason_in(const std::string& errors, int exit_code);

// Path of this program's own binary.
std::string own_path();

}  // namespace fairlead::tools
