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

// Starts `command` (an absolute path first) without input and output, its error output in the file
// `errors`. It is killed when this process dies. Error: fork failed.
Result<pid_t> start_child(const std::vector<std::string>& command, const std::string& errors);

struct ChildEnd {
  pid_t pid = -1;
  int exit_code = 0;  // 128 + signal for one that a signal ended
};
// Blocks until one child of this process has ended.
ChildEnd wait_child();

// Path of this program's own binary.
std::string own_path();

}  // namespace fairlead::tools
