#include "fairlead/run/node/running_jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

#include "fairlead/base/fd.h"
#include "fairlead/run/node/board.h"

namespace fairlead::run {
namespace {
namespace fs = std::filesystem;

std::string command_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

// The board that a process has, opened once more. A process that is gone, or another user's, has
// none.
std::optional<Fd> board_of(pid_t pid) {
  std::error_code failed;
  const std::string name = fmt::format("/memfd:{}", Board::kName);
  for (fs::directory_iterator each(fmt::format("/proc/{}/fd", pid), failed), end;
       !failed && each != end; each.increment(failed)) {
    std::error_code unread;
    if (!fs::read_symlink(each->path(), unread).string().starts_with(name)) continue;
    Fd opened(::open(each->path().c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.valid()) return opened;
  }
  return std::nullopt;
}

// Only read, so that looking changes nothing.
class BoardView {
 public:
  explicit BoardView(const Fd& memory) {
    struct stat info {};
    if (::fstat(memory.get(), &info) != 0 || info.st_size == 0 ||
        static_cast<std::size_t>(info.st_size) % sizeof(BoardSlot) != 0) {
      return;
    }
    bytes_ = static_cast<std::size_t>(info.st_size);
    void* const at = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, memory.get(), 0);
    if (at != MAP_FAILED) slots_ = static_cast<const BoardSlot*>(at);
  }
  ~BoardView() {
    if (slots_ != nullptr) ::munmap(const_cast<BoardSlot*>(slots_), bytes_);
  }
  BoardView(const BoardView&) = delete;
  BoardView& operator=(const BoardView&) = delete;

  bool valid() const { return slots_ != nullptr; }
  std::size_t ranks() const { return bytes_ / sizeof(BoardSlot); }
  const BoardSlot& slot(std::size_t rank) const { return slots_[rank]; }

 private:
  const BoardSlot* slots_ = nullptr;
  std::size_t bytes_ = 0;
};

RunningRank look_at(const BoardSlot& slot) {
  RunningRank rank;
  rank.pid = slot.call.pid();
  if (rank.pid == 0) return rank;
  const std::uint32_t began = slot.began.load(std::memory_order_acquire);
  const std::uint32_t ended = slot.ended.load(std::memory_order_acquire);
  rank.call = slot.call.read();
  rank.state = (began & ~ended) == 0                     ? RunningRank::State::ended
               : rank.call.kind == CallFacts::Kind::none ? RunningRank::State::runs
                                                         : RunningRank::State::waits;
  return rank;
}

std::optional<RunningJob> job_of(pid_t pid, const Fd& memory) {
  const BoardView board(memory);
  if (!board.valid()) return std::nullopt;
  RunningJob job;
  job.pid = pid;
  job.command = command_of(pid);
  for (std::size_t rank = 0; rank < board.ranks(); ++rank) {
    job.ranks.push_back(look_at(board.slot(rank)));
  }
  return job;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code failed;
  for (fs::directory_iterator each("/proc", failed), end; !failed && each != end;
       each.increment(failed)) {
    const std::string name = each->path().filename();
    if (!name.empty() &&
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      found.push_back(static_cast<pid_t>(std::stol(name)));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<std::vector<RunningJob>> running_jobs(pid_t pid) {
  std::vector<RunningJob> jobs;
  ino_t wanted = 0;
  if (pid != 0) {
    const std::optional<Fd> memory = board_of(pid);
    struct stat info {};
    if (!memory || ::fstat(memory->get(), &info) != 0) {
      const bool exists = fs::exists(fmt::format("/proc/{}", pid));
      return Error{exists ? fmt::format("process {} is in no job of processes (or is another "
                                        "user's); fairlead ps without a number lists those that "
                                        "run here",
                                        pid)
                          : fmt::format("there is no process {}", pid)};
    }
    wanted = info.st_ino;
  }
  std::map<ino_t, bool> seen;
  for (const pid_t each : all_processes()) {
    const std::optional<Fd> memory = board_of(each);
    struct stat info {};
    if (!memory || ::fstat(memory->get(), &info) != 0) continue;
    if ((wanted != 0 && info.st_ino != wanted) || std::exchange(seen[info.st_ino], true)) continue;
    if (std::optional<RunningJob> job = job_of(each, *memory)) jobs.push_back(std::move(*job));
  }
  if (wanted != 0 && jobs.empty()) {
    return Error{fmt::format("the job of process {} is of another version of Fairlead", pid)};
  }
  return jobs;
}

}  // namespace fairlead::run
