#include "fairlead/run/job/reaper.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fairlead/base/fd.h"
#include "fairlead/base/numbers.h"

namespace fairlead::run {
namespace {

// A process that is killed ends within tens of microseconds; its orphans arrive with its end.
constexpr timespec kPause{0, 500'000};

std::string read_small_file(const std::string& path) {
  std::string text;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return text;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(file.get(), chunk, sizeof chunk)) > 0;) {
    text.append(chunk, static_cast<std::size_t>(got));
  }
  return text;
}

std::vector<pid_t> numbers(std::string_view text) {
  std::vector<pid_t> found;
  while (!text.empty()) {
    const std::size_t skip = text.find_first_of("0123456789");
    if (skip == std::string_view::npos) break;
    text.remove_prefix(skip);
    pid_t value = 0;
    if (!take_whole(text, value)) break;
    found.push_back(value);
  }
  return found;
}

template <class Visit>
void for_each_number_in(const std::string& directory, Visit&& visit) {
  DIR* entries = ::opendir(directory.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (const auto id = whole_number<pid_t>(entry->d_name)) visit(*id);
  }
  ::closedir(entries);
}

// Kernels built without CONFIG_PROC_CHILDREN: field 4 of each /proc/PID/stat is the parent.
std::vector<pid_t> children_by_scan(pid_t parent) {
  std::vector<pid_t> found;
  for_each_number_in("/proc", [&](pid_t pid) {
    const std::string stat = read_small_file("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');  // the name may hold blanks and parentheses
    int ppid = 0;
    if (name_end == std::string::npos) return;
    if (std::sscanf(stat.c_str() + name_end + 1, " %*c %d", &ppid) == 1 && ppid == parent) {
      found.push_back(pid);
    }
  });
  return found;
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  const std::string own_file = tasks + "/" + std::to_string(parent) + "/children";
  if (::access(own_file.c_str(), R_OK) != 0) return children_by_scan(parent);
  std::vector<pid_t> found;
  for_each_number_in(tasks, [&](pid_t thread) {
    const auto more = numbers(read_small_file(tasks + "/" + std::to_string(thread) + "/children"));
    found.insert(found.end(), more.begin(), more.end());
  });
  return found;
}

// The whole tree at once, so that its depth does not multiply the time it takes.
void kill_tree(pid_t root, int depth) {
  constexpr int kDepthMax = 32;  // deeper ones come up as orphans in the next pass
  const std::vector<pid_t> below = depth < kDepthMax ? children_of(root) : std::vector<pid_t>{};
  ::kill(root, SIGKILL);
  for (const pid_t child : below) kill_tree(child, depth + 1);
}

}  // namespace

std::vector<pid_t> children_of_self() { return children_of(::getpid()); }

std::vector<pid_t> kill_descendants(std::span<const pid_t> keep, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    std::vector<pid_t> left;
    for (const pid_t child : children_of_self()) {
      if (std::find(keep.begin(), keep.end(), child) == keep.end()) left.push_back(child);
    }
    // Reading `children` while some of them end may skip one: only the kernel's ECHILD is proof.
    if (left.empty()) {
      if (!keep.empty()) return left;
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended < 0) return left;
    }
    for (const pid_t child : left) kill_tree(child, 0);
    std::erase_if(left, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) == child; });
    if (std::chrono::steady_clock::now() >= deadline) return left;
    if (!left.empty()) ::nanosleep(&kPause, nullptr);
  }
}

}  // namespace fairlead::run
