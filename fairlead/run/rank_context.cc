#include "fairlead/run/rank_context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>

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
  Result<TracedRank> traced =
      trace_rank(std::string(get_text(welcome.trace_path, "trace_path").value()), *parts.port,
                 fmt::format("rank {}", rank));
  if (!traced.ok()) return Error{fmt::format("rank {}: {}", rank, traced.error().text)};
  if (board.has_value()) board->slot(rank).attached.store(1, std::memory_order_release);
  std::unique_ptr<RankContext> context(new RankContext(
      rank, std::move(parts), std::move(traced.value()), std::move(board), std::move(life)));
  context->parts_.fatal->context = context.get();
  return context;
}

void RankContext::end_job(void* link, const std::string& reason) {
  const auto& fatal = *static_cast<const FatalLink*>(link);
  FAIRLEAD_CHECK(fatal.context != nullptr, "{}", reason);
  fatal.context->abort_job(1, reason + fatal.repeat);
}

RankContext::RankContext(std::uint32_t rank, Parts parts, TracedRank traced,
                         std::optional<Board> board, Fd life)
    : ProcessContext(rank, *parts.port, std::move(traced), std::move(board), std::move(life)),
      parts_(std::move(parts)) {}

RankContext::~RankContext() { drop_states(); }

std::string RankContext::processor_name() const {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

}  // namespace fairlead::run
