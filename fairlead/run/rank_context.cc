#include "fairlead/run/rank_context.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

#include "fairlead/base/check.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/lci/direct_port.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {

Result<std::unique_ptr<RankContext>> RankContext::join(const Welcome& welcome, int job_fd,
                                                       std::optional<Board> board, Fd life) {
  const std::uint32_t rank = welcome.head.rank;
  auto nic = fabric::attach_shm(job_fd, rank, {.nonce = welcome.nonce});
  if (!nic.ok()) return Error{fmt::format("rank {}: {}", rank, nic.error().text)};
  lci::DirectOptions options;
  options.epoch = Ps{welcome.epoch_ps};
  options.wait = wait_plan_of(welcome);
  auto port = lci::make_direct_port(*nic.value(), options);
  if (board.has_value()) board->slot(rank).attached.store(1, std::memory_order_release);
  return std::unique_ptr<RankContext>(new RankContext(rank, std::move(nic.value()), std::move(port),
                                                      std::move(board), std::move(life)));
}

RankContext::RankContext(std::uint32_t rank, std::unique_ptr<fabric::Nic> nic,
                         std::unique_ptr<lci::Port> port, std::optional<Board> board, Fd life)
    : Context(*port),
      rank_(rank),
      nic_(std::move(nic)),
      port_(std::move(port)),
      board_(std::move(board)),
      life_(std::move(life)),
      check_{rank,
             [](const void* clock) {
               return static_cast<long long>(static_cast<const lci::Port*>(clock)->now().count);
             },
             port_.get()} {}

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
