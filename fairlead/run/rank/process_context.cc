#include "fairlead/run/rank/process_context.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

ProcessContext::ProcessContext(std::uint32_t rank, lci::Port& port, TracedRank traced,
                               std::optional<Board> board, Fd life, const LayerCosts& layers)
    : Context(traced.port != nullptr ? *traced.port : port, layers),
      rank_(rank),
      ranks_(port.size()),
      traced_(std::move(traced)),
      board_(std::move(board)),
      life_(std::move(life)),
      check_{rank,
             [](const void* clock) {
               return static_cast<long long>(static_cast<const lci::Port*>(clock)->now().count);
             },
             &port} {}

// Where packets may be lost, a system that waits for one of them would wait for ever.
void ProcessContext::refuse_loss(System system) {
  if (ranks_ == 1 || (port().caps(rank_ == 0 ? 1 : 0).flags & lci::kMayLose) == 0) return;
  const SystemRow& row = kSystems[static_cast<std::size_t>(system)];
  if (row.bears_loss) return;
  abort_job(1, fmt::format("{} cannot bear that packets are lost, and --lci raw sends none of them "
                           "again: run it by --lci hrx or nirx (raw carries programs of "
                           "unreliable VIs and --splitc via-unreliable)",
                           row.name));
}

void ProcessContext::began(System system) {
  refuse_loss(system);
  open_.fetch_or(system_bit(system));
  call().set_pid(static_cast<std::uint32_t>(::getpid()));
  if (board_) board_->slot(rank_).began.fetch_or(system_bit(system), std::memory_order_release);
}

void ProcessContext::flush_trace() {
  if (traced_.writer == nullptr) return;
  const lci::PortTurn turn(port());  // a helper of the port writes into it too
  traced_.writer->flush();
}

void ProcessContext::ended(System system) {
  flush_trace();
  if (board_) board_->slot(rank_).ended.fetch_or(system_bit(system), std::memory_order_release);
  open_.fetch_and(~system_bit(system));
  leave();
}

void ProcessContext::leave() {
  // With a system open the rank's exit is a failure, and the launcher takes it for one.
  if (launched_ != nullptr && open_.load() == 0) launched_->finish();
}

void ProcessContext::check_exit(int code) {
  const char* call = missing_end(open_.load());
  if (launched_ == nullptr || call == nullptr) return;
  abort_job(code != 0 ? code : 1,
            fmt::format("its program exited with code {} without {}", code, call));
}

std::string ProcessContext::losses() const {
  std::string text;
  constexpr int kNamedMax = 4;
  int named = 0;
  for (std::uint32_t rank = 0; board_ && rank < ranks_; ++rank) {
    const auto reason = get_text(board_->slot(rank).reason, "reason");
    if (!reason.ok() || reason.value().empty()) continue;
    if (++named > kNamedMax) return text + ", ...)";
    text += fmt::format("{}rank {}: {}", text.empty() ? " (" : ", ", rank, reason.value());
  }
  return text.empty() ? text : text + ")";
}

void ProcessContext::stop_watching() {
  if (launched_ != nullptr) launched_->stop_watching();
}

void ProcessContext::abort_job(int code, const std::string& given) {
  const std::string reason = given + losses();
  std::fflush(nullptr);
  flush_trace();
  if (!life_.valid()) {
    fmt::print(stderr, "fairlead: rank {} ended the job: {}\n", rank_, reason);
    if (launched_ != nullptr) launched_->abort(code, reason);
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
  constexpr int kLongestMs = 5000;
  if (sent > 0) (void)::poll(nullptr, 0, kLongestMs);
  ::_exit(code);
}

}  // namespace fairlead::run
