#include "fairlead/run/rank_context.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

#include "fairlead/base/check.h"
#include "fairlead/fabric/faulty/faulty.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/lci/direct_port.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {

Result<std::unique_ptr<RankContext>> RankContext::join(const Welcome& welcome, int job_fd,
                                                       std::optional<Board> board, Fd life) {
  const std::uint32_t rank = welcome.head.rank;
  auto nic = fabric::attach_shm(job_fd, rank, {.nonce = welcome.nonce});
  if (!nic.ok()) return Error{fmt::format("rank {}: {}", rank, nic.error().text)};
  Parts parts;
  parts.nic = std::move(nic.value());
  parts.fatal = std::make_unique<FatalLink>();
  fabric::Nic* below = parts.nic.get();
  const auto plan =
      fault_plan_of(std::string(get_text(welcome.faults, "faults").value()), welcome.seed);
  if (plan.has_value()) {
    fabric::FaultyOptions faults;
    faults.epoch = Ps{welcome.epoch_ps};
    parts.faulty = fabric::make_faulty(*below, *plan, faults);
    parts.fatal->repeat = "; to see it again: " + fabric::repeat_line(*plan);
    below = parts.faulty.get();
  }
  lci::DirectOptions options;
  options.epoch = Ps{welcome.epoch_ps};
  options.wait = wait_plan_of(welcome);
  options.fatal = end_job;
  options.fatal_context = parts.fatal.get();
  parts.port = lci::make_direct_port(*below, options);
  if (board.has_value()) board->slot(rank).attached.store(1, std::memory_order_release);
  std::unique_ptr<RankContext> context(
      new RankContext(rank, std::move(parts), std::move(board), std::move(life)));
  context->parts_.fatal->context = context.get();
  return context;
}

void RankContext::end_job(void* link, const std::string& reason) {
  const auto& fatal = *static_cast<const FatalLink*>(link);
  FAIRLEAD_CHECK(fatal.context != nullptr, "{}", reason);
  fatal.context->abort_job(1, reason + fatal.repeat);
}

RankContext::RankContext(std::uint32_t rank, Parts parts, std::optional<Board> board, Fd life)
    : Context(*parts.port),
      rank_(rank),
      parts_(std::move(parts)),
      board_(std::move(board)),
      life_(std::move(life)),
      check_{rank,
             [](const void* clock) {
               return static_cast<long long>(static_cast<const lci::Port*>(clock)->now().count);
             },
             parts_.port.get()} {}

RankContext::~RankContext() { drop_states(); }

void RankContext::began(System system) {
  if (board_) board_->slot(rank_).began.fetch_or(system_bit(system), std::memory_order_release);
}

void RankContext::ended(System system) {
  if (board_) board_->slot(rank_).ended.fetch_or(system_bit(system), std::memory_order_release);
}

void RankContext::abort_job(int code, const std::string& reason) {
  std::fflush(nullptr);
  if (!life_.valid()) {
    fmt::print(stderr, "fairlead: rank {} ended the job: {}\n", rank_, reason);
    ::_exit(code);
  }
  auto note = make_message<AbortNote>(rank_);
  note.code = code;
  set_text(note.reason, reason);
  ssize_t sent = 0;
  do {
    sent = ::send(life_.get(), &note, sizeof note, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  // The guardian kills this process; should it be gone itself, its end does.
  constexpr timespec kLongest{5, 0};
  if (sent > 0) ::nanosleep(&kLongest, nullptr);
  ::_exit(code);
}

std::string RankContext::processor_name() const {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

}  // namespace fairlead::run
