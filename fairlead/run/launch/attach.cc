#include "fairlead/run/launch/attach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/join/find_job_exchange.h"
#include "fairlead/run/join/join_launched.h"
#include "fairlead/run/model/model_rank_context.h"
#include "fairlead/run/rank/rank_context.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

template <class T>
Result<std::unique_ptr<ProcessContext>> widened(Result<std::unique_ptr<T>> made) {
  if (!made.ok()) return made.error();
  return std::unique_ptr<ProcessContext>(std::move(made.value()));
}

Result<std::unique_ptr<ProcessContext>> join_alone() {
  WorldOptions options;
  options.ranks = 1;
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::create({.ranks = 1});
  if (!job.ok()) return job.error();
  const JobGround ground{
      WorldKind::shm, job.value()->fd(), job.value()->nonce(), job.value()->epoch(), {}, {}};
  const Welcome welcome = make_welcome(options, ground, wait_plan_dedicated(), 0);
  return widened(RankContext::join(welcome, job.value()->fd(), std::nullopt, Fd()));
}

// Where a job cannot be set up as asked, that is so for all its ranks: the first to find it says so
// for those of its node, and the others are ended with the job before they would.
Error say_once(Fd memory, const Welcome& welcome, Error error) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kOthersCome{200};
  constexpr std::chrono::seconds kIsEnded{2};
  Result<Board> board = Board::attach(std::move(memory), welcome.ranks);
  if (!board.ok()) return error;
  const bool all = welcome.near_count == 0;
  const std::uint32_t ranks = all ? welcome.ranks : welcome.near_count;
  std::atomic<std::uint32_t>& failed = board.value().slot(all ? 0 : welcome.near_first).not_set_up;
  const bool speaks = failed.fetch_add(1) == 0;
  const auto until = Clock::now() + (speaks ? kOthersCome : kIsEnded);
  while (Clock::now() < until && (!speaks || failed.load() < ranks)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ranks > 1) error.text += fmt::format(" ({} of {} ranks here)", failed.load(), ranks);
  return error;
}

Result<std::unique_ptr<ProcessContext>> join_as_told(const std::string& text) {
  const Result<BootstrapPlace> place = parse_bootstrap(text);
  if (!place.ok()) return place.error();
  Result<Joined> joined = receive_welcome(place.value());
  if (!joined.ok()) return joined.error();
  const Welcome& welcome = joined.value().welcome;
  Fd memory(::fcntl(joined.value().board.get(), F_DUPFD_CLOEXEC, 0));
  Result<Board> board = Board::attach(std::move(joined.value().board), welcome.ranks);
  if (!board.ok()) return board.error();
  const int job = joined.value().job.get();
  if (static_cast<WorldKind>(welcome.world) == WorldKind::model) {
    return widened(ModelRankContext::join(welcome, job, std::move(board.value()),
                                          std::move(joined.value().life)));
  }
  Result<std::unique_ptr<RankContext>> made =
      RankContext::join(welcome, job, std::move(board.value()), std::move(joined.value().life),
                        nullptr, std::move(joined.value().bell));
  if (!made.ok()) return say_once(std::move(memory), welcome, made.error());
  return widened(std::move(made));
}

Result<std::unique_ptr<ProcessContext>> join_other_or_alone() {
  Result<std::unique_ptr<JobExchange>> exchange = find_job_exchange();
  if (!exchange.ok()) return exchange.error();
  if (exchange.value() == nullptr) return join_alone();
  return widened(join_launched(std::move(exchange.value())));
}

std::atomic<pid_t> joined_pid = 0;

// For programs that end without ending a system. A child that a rank forked has a copy of what
// the rank will write itself.
void leave_at_exit(int code, void*) {
  pid_t self = ::getpid();
  // Once: an exit handler of the program may have done it.
  if (!joined_pid.compare_exchange_strong(self, 0)) return;
  auto* context = static_cast<ProcessContext*>(process_context.load(std::memory_order_acquire));
  context->check_exit(code);
  context->flush_trace();
  context->linger();
  context->leave();
  context->stop_watching();
}
// When the library is loaded, so that it runs behind all exit handlers and destructors of the
// program: some end their systems there.
[[gnu::constructor]] void register_leaving() { ::on_exit(leave_at_exit, nullptr); }

}  // namespace

void leave_job(int code) { leave_at_exit(code, nullptr); }

Result<Context*> attach() {
  static std::mutex joining;
  const std::lock_guard lock(joining);
  if (Context* context = current(); context != nullptr) {
    const pid_t joined = joined_pid.load();
    if (joined == 0 || joined == ::getpid()) return context;
    return Error{
        "this process was forked by a rank and cannot be the rank too: join the job in "
        "one process, or start the other one by exec without FAIRLEAD_BOOTSTRAP"};
  }
  const char* told = std::getenv(kBootstrapVariable);
  Result<std::unique_ptr<ProcessContext>> context =
      told != nullptr ? join_as_told(told) : join_other_or_alone();
  if (!context.ok()) return context.error();
  set_check_context(&context.value()->check());
  // Never destroyed: threads and exit handlers of the program may use it to the very end.
  process_context.store(context.value().release(), std::memory_order_release);
  joined_pid.store(::getpid());
  return process_context.load(std::memory_order_relaxed);
}

}  // namespace fairlead::run
