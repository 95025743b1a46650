#include "fairlead/run/join/node_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "fairlead/run/network.h"

namespace fairlead::run {
namespace {

// Launchers end a job within some milliseconds of a rank's death.
constexpr int kLaunchersMomentMs = 200;
// Where the kernel has no pidfd (before 5.3).
constexpr int kLookMs = 100;

Fd open_process(std::uint32_t pid) {
#ifdef SYS_pidfd_open
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
#else
  errno = ENOSYS;
  return Fd();
#endif
}

}  // namespace

NodeWatch::NodeWatch(std::unique_ptr<fabric::ShmJob> job, Board board, Fd stop)
    : job_(std::move(job)), board_(std::move(board)), stop_(std::move(stop)) {}

Result<std::unique_ptr<NodeWatch>> NodeWatch::start(std::unique_ptr<fabric::ShmJob> job,
                                                    Board board, std::uint32_t self,
                                                    std::vector<std::uint32_t> ring) {
  Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop.valid()) {
    return Error{fmt::format("cannot watch the other ranks (eventfd): {}", std::strerror(errno))};
  }
  std::unique_ptr<NodeWatch> watch(
      new NodeWatch(std::move(job), std::move(board), std::move(stop)));
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<void> started;
  try {
    watch->thread_ = std::thread(&NodeWatch::run, watch.get(), self, std::move(ring));
  } catch (const std::system_error& refused) {
    started =
        Error{fmt::format("cannot watch the other ranks: {}; raise ulimit -u", refused.what())};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started.ok()) return started.error();
  return watch;
}

NodeWatch::~NodeWatch() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void NodeWatch::run(std::uint32_t self, const std::vector<std::uint32_t>& ring) {
  const auto here =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), self) - ring.begin());
  for (std::size_t step = 1; step < ring.size(); ++step) {
    const std::uint32_t next = ring[(here + step) % ring.size()];
    if (!wait_for_end(next)) return;
    judge(next);
  }
}

bool NodeWatch::stopped(int wait_ms) const {
  pollfd stop{stop_.get(), POLLIN, 0};
  return ::poll(&stop, 1, wait_ms) > 0;
}

bool NodeWatch::wait_for_end(std::uint32_t rank) {
  const std::uint32_t pid = board_.slot(rank).pid.load();
  // Of another process namespace: only the launcher sees it end.
  if (pid == 0) return !stopped(-1);
  const Fd process = open_process(pid);
  if (process.valid()) {
    pollfd both[] = {{process.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    while (both[0].revents == 0 && both[1].revents == 0) (void)::poll(both, 2, -1);
    return both[1].revents == 0;
  }
  while (::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH) {
    if (stopped(kLookMs)) return false;
  }
  return true;
}

void NodeWatch::judge(std::uint32_t rank) {
  remove_endpoint(job_->nonce(), rank);
  const BoardSlot& slot = board_.slot(rank);
  const char* call = missing_end(slot);
  const std::uint32_t began = slot.began.load(std::memory_order_acquire);
  if ((began != 0 && call == nullptr) || job_->dead(rank)) return;
  if (stopped(kLaunchersMomentMs)) return;
  if (call != nullptr) {
    fmt::print(stderr, "fairlead: rank {} (process {}) ended without {}\n", rank, slot.pid.load(),
               call);
  }
  job_->mark_dead(rank);
}

}  // namespace fairlead::run
