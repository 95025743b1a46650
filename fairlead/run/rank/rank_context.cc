#include "fairlead/run/rank/rank_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "fairlead/base/check.h"
#include "fairlead/base/numbers.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/lci/endpoint/real_endpoint.h"
#include "fairlead/lci/ni/engine_endpoint.h"
#include "fairlead/run/machine/probes.h"
#include "fairlead/run/rank/path_report.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {

namespace {

// A rank of another node may have gone, and its last acknowledgment been lost.
constexpr Ps kLingerMax = seconds(5);

bool several_nodes(const Welcome& welcome) {
  return welcome.near_count != 0 && welcome.near_count < welcome.ranks &&
         static_cast<WorldKind>(welcome.world) != WorldKind::memory;
}
std::vector<bool> near_ranks(const Welcome& welcome) {
  std::vector<bool> near(welcome.ranks);
  std::fill_n(near.begin() + welcome.near_first, welcome.near_count, true);
  return near;
}

// Where the user asked for it, by the first rank of each node.
void show_paths(const Welcome& welcome, const std::vector<bool>& near, bool hrx,
                const std::string& network) {
  if (std::getenv(kShowPathsVariable) == nullptr) return;
  PathReport report;
  report.rank = welcome.head.rank;
  report.near = near;
  if (near.empty()) report.near.assign(welcome.ranks, network.empty());
  const auto first = std::find(report.near.begin(), report.near.end(), true);
  const auto leader = static_cast<std::uint32_t>(first - report.near.begin());
  if (report.rank != (first == report.near.end() ? 0 : leader)) return;
  report.node_hrx = hrx && network.empty();
  report.network_hrx = hrx && !network.empty();
  report.network = network;
  if (near.empty() && !network.empty()) report.on = network_name(welcome);
  report.memory = static_cast<WorldKind>(welcome.world) == WorldKind::memory;
  fmt::print(stderr, "{}\n", path_lines(report));
}

// As above, for ranks with an NI engine.
void show_engine_paths(const Welcome& welcome, const NodeMap& nodes, const fabric::ShmJob& job,
                       std::uint32_t bytes) {
  if (std::getenv(kShowPathsVariable) == nullptr) return;
  const std::uint32_t rank = welcome.head.rank;
  const Peer node = nodes.node_of(rank);
  if (rank != nodes.leader_of(node)) return;
  PathReport report;
  report.rank = rank;
  report.engine = true;
  for (std::uint32_t each = 0; each < welcome.ranks; ++each) {
    report.near.push_back(nodes.node_of(each) == node);
  }
  RankCard own;
  (void)job.read_card(rank, std::as_writable_bytes(std::span(&own, 1)));
  std::string where = to_string(own.rails[0]);
  if (own.rails[1].known()) where += " and " + to_string(own.rails[1]);
  report.network = fmt::format("udp from {}, {} bytes a packet, sealed ({})", where, bytes,
                               fabric::auth_name(static_cast<fabric::Auth>(welcome.auth)));
  fmt::print(stderr, "{}\n", path_lines(report));
}

// What the welcome asks of an endpoint, whatever carries its packets over `network`.
Result<lci::RealEndpointOptions> endpoint_options(const Welcome& welcome,
                                                  const std::string& network) {
  lci::RealEndpointOptions options;
  options.faults =
      fault_plan_of(std::string(get_text(welcome.faults, "faults").value()), welcome.seed);
  options.faulty.epoch = Ps{welcome.epoch_ps};
  options.direct.epoch = Ps{welcome.epoch_ps};
  options.direct.memory_bytes = welcome.rank_memory_bytes;
  options.reliable.epoch = Ps{welcome.epoch_ps};
  options.reliable.watch_absence = true;
  options.direct.wait = wait_plan_of(welcome);
  const Result<bool> hrx = lci::choose_hrx(std::string(get_text(welcome.lci, "lci").value()),
                                           options.faults.value_or(fabric::FaultPlan{}),
                                           network == "udp", network.c_str());
  if (!hrx.ok()) return hrx.error();
  options.hrx = hrx.value();
  options.direct.may_lose = get_text(welcome.lci, "lci").value() == lci::kRawImplementation;
  double patience = kPatienceSeconds;
  if (const char* told = std::getenv(kPatienceVariable); told != nullptr) {
    const auto read = read_real(fmt::format("{}=", kPatienceVariable), told, "a number of seconds",
                                kPatienceRange);
    if (!read.ok()) return read.error();
    patience = read.value();
  }
  if (patience > 0) options.reliable.patience = microseconds_rounded(patience * 1e6);
  return options;
}

}  // namespace

Result<void> RankContext::reach_engine(const Welcome& welcome, int job_fd, Parts& parts) {
  const std::uint32_t rank = welcome.head.rank;
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::open(job_fd, welcome.nonce);
  if (!job.ok()) return job.error();
  parts.job = std::move(job.value());
  if (Result<void> joined = parts.job->join(rank); !joined.ok()) return joined.error();
  fabric::engine::HostOptions options;
  options.nodes = parts.job->nodes();
  if (options.nodes.count() != welcome.engines) {
    return Error{fmt::format("the job's memory tells of {} NI engines, the launcher of {}",
                             options.nodes.count(), welcome.engines)};
  }
  options.self = rank;
  options.epoch = Ps{welcome.epoch_ps};
  options.wait = wait_plan_of(welcome);
  options.bell = parts.bell.get();
  options.fatal = end_job;
  options.context = parts.fatal.get();
  Result<std::unique_ptr<lci::RankEndpoint>> made =
      lci::make_engine_endpoint(*parts.job, options, wake_hooks(parts.fatal.get()));
  if (!made.ok()) return made.error();
  parts.endpoint = std::move(made.value());
  show_engine_paths(welcome, options.nodes, *parts.job,
                    parts.endpoint->port().caps(rank).mtu_bytes);
  return {};
}

Result<void> RankContext::open_nics(const Welcome& welcome, int job_fd, const NetworkPlace* network,
                                    int life, Parts& parts) {
  const std::uint32_t rank = welcome.head.rank;
  const bool only_network = static_cast<WorldKind>(welcome.world) == WorldKind::network;
  const bool several = network != nullptr || several_nodes(welcome);
  const bool on_network = only_network || several;
  Result<lci::RealEndpointOptions> asked =
      endpoint_options(welcome, on_network ? network_name(welcome) : "shm");
  if (!asked.ok()) return asked.error();
  lci::RealEndpointOptions& options = asked.value();
  if (options.direct.may_lose && several) {
    return Error{"--lci raw is for the ranks of one host (--on udp)"};
  }
  if (options.faults.has_value()) {
    parts.fatal->repeat = "; to see it again: " + fabric::repeat_line(*options.faults);
  }
  if (on_network || options.hrx) {
    Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::open(job_fd, welcome.nonce);
    if (!job.ok()) return job.error();
    parts.job = std::move(job.value());
    parts.memory = std::make_unique<MemoryPlace>(
        MemoryPlace{parts.job.get(), several_nodes(welcome) ? life : -1});
  }
  options.wake = wake_hooks(parts.fatal.get());
  options.direct.fatal = end_job;
  options.direct.fatal_context = parts.fatal.get();
  options.reliable.left = has_left;
  options.reliable.context = parts.job.get();
  parts.fatal->patience = options.reliable.patience;
  options.reliable.never_heard = never_heard;
  options.reliable.never_heard_context = parts.fatal.get();
  std::unique_ptr<fabric::Nic> nic;
  std::string path;
  if (only_network) {
    if (Result<void> joined = parts.job->join(rank); !joined.ok()) return joined.error();
  } else {
    Result<std::unique_ptr<fabric::Nic>> node =
        fabric::attach_shm(job_fd, rank, {.nonce = welcome.nonce});
    if (!node.ok()) return node.error();
    nic = std::move(node.value());
  }
  if (on_network) {
    options.node = std::move(nic);
    if (several) options.linger_max = kLingerMax;
    parts.place =
        std::make_unique<NetworkPlace>(network != nullptr ? *network : place_in(*parts.memory));
    if (several && network == nullptr && !only_network) parts.place->near = near_ranks(welcome);
    options.near = parts.place->near;
    Result<NetworkEndpoint> opened = open_network(welcome, *parts.place, *parts.job);
    if (!opened.ok()) return opened.error();
    path = std::move(opened.value().path);
    nic = std::move(opened.value().nic);
    parts.rails = std::move(opened.value().rails);
  }
  show_paths(welcome, options.near, options.hrx, path);
  parts.endpoint = std::make_unique<lci::RealEndpoint>(std::move(nic), std::move(options));
  return {};
}

Result<std::unique_ptr<RankContext>> RankContext::join(const Welcome& welcome, int job_fd,
                                                       std::optional<Board> board, Fd life,
                                                       const NetworkPlace* network, Fd bell) {
  const std::uint32_t rank = welcome.head.rank;
  Parts parts;
  parts.fatal = std::make_unique<FatalLink>();
  parts.bell = std::move(bell);
  const Result<void> reached = welcome.engines > 0
                                   ? reach_engine(welcome, job_fd, parts)
                                   : open_nics(welcome, job_fd, network, life.get(), parts);
  if (!reached.ok()) return Error{fmt::format("rank {}: {}", rank, reached.error().text)};
  // A job of one machine without NI engines has one node, whatever its memory says of theirs.
  const bool several = welcome.engines > 0 || network != nullptr || several_nodes(welcome);
  const bool mapped = parts.job != nullptr && several;
  parts.nodes = mapped ? parts.job->nodes() : NodeMap::even(welcome.ranks, welcome.ranks);
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

lci::WakeHooks RankContext::wake_hooks(FatalLink* link) {
  const auto begin = [](void* of) {
    RankContext* const context = static_cast<FatalLink*>(of)->context;
    set_current(context);
    set_check_context(&context->check());
  };
  return {begin, end_job, link};
}

void RankContext::never_heard(void* link, Peer peer) {
  end_job(link, fmt::format(
                    "nothing was ever heard of rank {}, although this rank sent to it for {:g} s: "
                    "its program makes no calls, or the network loses all that is sent; look at "
                    "--address, firewalls and --faults, or wait longer by --patience",
                    peer, to_seconds(static_cast<const FatalLink*>(link)->patience)));
}

RankContext::RankContext(std::uint32_t rank, Parts parts, TracedRank traced,
                         std::optional<Board> board, Fd life)
    : ProcessContext(rank, parts.endpoint->port(), std::move(traced), std::move(board),
                     std::move(life)),
      parts_(std::move(parts)) {}

RankContext::~RankContext() {
  parts_.endpoint->stop_helper();
  drop_states();
}

void RankContext::ended(System system) {
  // What its last call sent must not wait for the rank to poll again.
  parts_.endpoint->settle();
  ProcessContext::ended(system);
}

void RankContext::linger() {
  parts_.endpoint->linger();
  if (parts_.job != nullptr) parts_.job->leave(rank());
  parts_.endpoint->shut();
}

std::string RankContext::processor_name() const { return host_name(); }

}  // namespace fairlead::run
