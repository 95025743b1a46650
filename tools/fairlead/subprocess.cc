#include "tools/fairlead/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fairlead::tools {

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code code;
  std::string path = std::filesystem::temp_directory_path(code).string() + "/fairlead-XXXXXX";
  if (code || mkdtemp(path.data()) == nullptr) {
    return Error{
        fmt::format("cannot make a temporary folder {} ({}); set TMPDIR to a folder that "
                    "can be written",
                    path, std::strerror(errno))};
  }
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<pid_t> start_child(const std::vector<std::string>& command, const std::string& errors,
                          const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return Error{fmt::format("cannot start a process ({})", std::strerror(errno))};
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the line above took effect
  const int nothing = open("/dev/null", O_RDONLY);
  const int output_file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error_file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (nothing < 0 || output_file < 0 || error_file < 0 || dup2(nothing, 0) < 0 ||
      dup2(output_file, 1) < 0 || dup2(error_file, 2) < 0) {
    _exit(126);
  }
  execv(arguments[0], arguments.data());
  _exit(127);
}

ChildEnd wait_child_or_signal() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, 0);
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {pid, pid < 0 ? -1 : code};
}

ChildEnd wait_child() {
  for (;;) {
    const ChildEnd end = wait_child_or_signal();
    if (end.pid >= 0 || errno != EINTR) return end;
  }
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

namespace {
// A program may have written anything.
std::string shown(std::string text) {
  constexpr std::size_t kMost = 500;
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}
}  // namespace

std::string reason_in(const std::string& errors, int exit_code) {
  const std::string mark = "fairlead: ";
  std::string last;
  std::size_t begin = 0;
  while (begin < errors.size()) {
    const std::size_t end = std::min(errors.find('\n', begin), errors.size());
    const std::string line = errors.substr(begin, end - begin);
    if (line.starts_with(mark)) return shown(line.substr(mark.size()));
    if (!line.empty()) last = line;
    begin = end + 1;
  }
  return last.empty() ? fmt::format("exit code {}", exit_code) : shown(last);
}

std::string own_path() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).string();
}

}  // namespace fairlead::tools
