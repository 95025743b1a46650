#include "fairlead/run/rank_context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <span>

#include "fairlead/base/check.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {

namespace {

// What datagrams of one job have in common; its secret is the key.
std::uint32_t public_number(std::uint64_t nonce) { return static_cast<std::uint32_t>(nonce); }

// Ranks of one machine find each other's addresses in the job's memory.
bool find_peer(void* job, Peer peer, fabric::UdpAddress* address) {
  return static_cast<const fabric::ShmJob*>(job)->read_card(
      peer, std::as_writable_bytes(std::span(address, 1)));
}
bool is_dead(void* job, Peer peer) { return static_cast<const fabric::ShmJob*>(job)->dead(peer); }
bool has_left(void* job, Peer peer) { return static_cast<const fabric::ShmJob*>(job)->left(peer); }

}  // namespace

Result<std::unique_ptr<fabric::Nic>> RankContext::open_nic(const Welcome& welcome, int job_fd,
                                                           Parts& parts) {
  const std::uint32_t rank = welcome.head.rank;
  if (static_cast<WorldKind>(welcome.world) == WorldKind::shm) {
    return fabric::attach_shm(job_fd, rank, {.nonce = welcome.nonce});
  }
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::open(job_fd, welcome.nonce);
  if (!job.ok()) return job.error();
  parts.job = std::move(job.value());
  if (Result<void> joined = parts.job->join(rank); !joined.ok()) return joined.error();
  fabric::UdpOptions options;
  options.self = rank;
  options.peers = welcome.ranks;
  std::copy(std::begin(welcome.key), std::end(welcome.key), options.key.begin());
  options.job = public_number(welcome.nonce);
  options.auth = static_cast<fabric::Auth>(welcome.auth);
  options.address = get_text(welcome.address, "address").value();
  options.mtu = welcome.mtu;
  options.find = find_peer;
  options.deaths = &parts.job->deaths();
  options.dead = is_dead;
  options.context = parts.job.get();
  options.counters = &parts.job->own_counters(rank);
  Result<std::unique_ptr<fabric::UdpNic>> nic = fabric::open_udp(options);
  if (!nic.ok()) return nic.error();
  parts.job->publish_card(rank, std::as_bytes(std::span(&nic.value()->address(), 1)));
  return std::unique_ptr<fabric::Nic>(std::move(nic.value()));
}

Result<std::unique_ptr<RankContext>> RankContext::join(const Welcome& welcome, int job_fd,
                                                       std::optional<Board> board, Fd life) {
  const std::uint32_t rank = welcome.head.rank;
  Parts parts;
  Result<std::unique_ptr<fabric::Nic>> nic = open_nic(welcome, job_fd, parts);
  if (!nic.ok()) return Error{fmt::format("rank {}: {}", rank, nic.error().text)};
  parts.fatal = std::make_unique<FatalLink>();
  lci::RealEndpointOptions options;
  options.faults =
      fault_plan_of(std::string(get_text(welcome.faults, "faults").value()), welcome.seed);
  options.faulty.epoch = Ps{welcome.epoch_ps};
  if (options.faults.has_value()) {
    parts.fatal->repeat = "; to see it again: " + fabric::repeat_line(*options.faults);
  }
  const bool on_network = parts.job != nullptr;
  Result<bool> hrx = lci::choose_hrx(std::string(get_text(welcome.lci, "lci").value()),
                                     options.faults.value_or(fabric::FaultPlan{}), on_network,
                                     on_network ? "udp" : "shm");
  if (!hrx.ok()) return Error{fmt::format("rank {}: {}", rank, hrx.error().text)};
  options.hrx = hrx.value();
  options.direct.epoch = Ps{welcome.epoch_ps};
  options.direct.wait = wait_plan_of(welcome);
  options.direct.fatal = end_job;
  options.direct.fatal_context = parts.fatal.get();
  options.reliable.epoch = Ps{welcome.epoch_ps};
  if (options.hrx && parts.job == nullptr) {
    Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::open(job_fd, welcome.nonce);
    if (!job.ok()) return Error{fmt::format("rank {}: {}", rank, job.error().text)};
    parts.job = std::move(job.value());
  }
  options.reliable.left = has_left;
  options.reliable.context = parts.job.get();
  parts.endpoint = std::make_unique<lci::RealEndpoint>(std::move(nic.value()), options);
  Result<TracedRank> traced =
      trace_rank(std::string(get_text(welcome.trace_path, "trace_path").value()),
                 parts.endpoint->port(), fmt::format("rank {}", rank));
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
    : ProcessContext(rank, parts.endpoint->port(), std::move(traced), std::move(board),
                     std::move(life)),
      parts_(std::move(parts)) {}

RankContext::~RankContext() { drop_states(); }

void RankContext::linger() {
  parts_.endpoint->linger();
  if (parts_.job != nullptr) parts_.job->leave(rank());
}

std::string RankContext::processor_name() const {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

}  // namespace fairlead::run
