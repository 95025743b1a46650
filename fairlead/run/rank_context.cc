#include "fairlead/run/rank_context.h"

#include <fmt/format.h>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "fairlead/base/check.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/rails_nic.h"
#include "fairlead/run/host_address.h"
#include "fairlead/run/path_report.h"
#include "fairlead/run/probes.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {

namespace {

// A rank of another node may have gone, and its last acknowledgment been lost.
constexpr Ps kLingerMax = seconds(5);

// Other nodes learn it through the guardian and the command.
Result<void> tell_other_nodes(std::uint32_t rank, int life, std::span<const std::byte> card) {
  auto note = make_message<AddressNote>(rank);
  FAIRLEAD_CHECK(card.size() <= sizeof note.card, "a card of {} bytes", card.size());
  note.size = static_cast<std::uint32_t>(card.size());
  std::copy(card.begin(), card.end(), note.card);
  if (::send(life, &note, sizeof note, MSG_NOSIGNAL) == sizeof note) return {};
  return Error{
      fmt::format("the launcher cannot be told this rank's address: {}", std::strerror(errno))};
}

bool several_nodes(const Welcome& welcome) {
  return welcome.near_count != 0 && welcome.near_count < welcome.ranks;
}
std::vector<bool> near_ranks(const Welcome& welcome) {
  std::vector<bool> near(welcome.ranks);
  std::fill_n(near.begin() + welcome.near_first, welcome.near_count, true);
  return near;
}

// Where the user asked for it, by the first rank of each node.
void show_paths(const Welcome& welcome, const fabric::Nic& nic, bool on_network,
                const std::vector<bool>& near, bool hrx, const std::string& udp) {
  if (std::getenv(kShowPathsVariable) == nullptr) return;
  PathReport report;
  report.rank = welcome.head.rank;
  report.near = near;
  if (near.empty()) report.near.assign(welcome.ranks, !on_network);
  const auto first = std::find(report.near.begin(), report.near.end(), true);
  const auto leader = static_cast<std::uint32_t>(first - report.near.begin());
  if (report.rank != (first == report.near.end() ? 0 : leader)) return;
  report.node_hrx = hrx && !on_network;
  report.udp = udp;
  report.udp_bytes = nic.caps(report.rank).mtu_bytes;
  report.seal = fabric::auth_name(static_cast<fabric::Auth>(welcome.auth));
  report.by_node = !near.empty();
  fmt::print(stderr, "{}\n", path_lines(report));
}

bool is_dead(void* job, Peer peer) { return static_cast<const fabric::ShmJob*>(job)->dead(peer); }
bool has_left(void* job, Peer peer) { return static_cast<const fabric::ShmJob*>(job)->left(peer); }

}  // namespace

Result<void> RankContext::publish_in_memory(void* place, std::uint32_t rank, const RankCard& own) {
  const auto& memory = *static_cast<const MemoryPlace*>(place);
  const auto card = std::as_bytes(std::span(&own, 1));
  memory.job->publish_card(rank, card);
  return memory.life < 0 ? Result<void>{} : tell_other_nodes(rank, memory.life, card);
}

bool RankContext::find_in_memory(void* place, Peer peer, RankCard* card) {
  return static_cast<const MemoryPlace*>(place)->job->read_card(
      peer, std::as_writable_bytes(std::span(card, 1)));
}

bool RankContext::find_on_rail(void* rail, Peer peer, fabric::UdpAddress* address) {
  const auto& [place, index] = *static_cast<const RailPlace*>(rail);
  RankCard card;
  if (!place.find(place.context, peer, &card)) return false;
  *address = card.rails[index];
  return address->family == AF_INET || address->family == AF_INET6;
}

Result<std::unique_ptr<fabric::Nic>> RankContext::open_network(const Welcome& welcome,
                                                               const NetworkPlace& network,
                                                               Parts& parts) {
  const std::uint32_t rank = welcome.head.rank;
  fabric::UdpOptions options;
  options.self = rank;
  options.peers = welcome.ranks;
  std::copy(std::begin(welcome.key), std::end(welcome.key), options.key.begin());
  options.job = fabric::job_number(options.key);
  options.auth = static_cast<fabric::Auth>(welcome.auth);
  options.mtu = welcome.mtu;
  options.find = find_on_rail;
  options.deaths = &parts.job->deaths();
  options.dead = is_dead;
  options.context = parts.job.get();
  options.counters = &parts.job->own_counters(rank);
  parts.rails = std::make_unique<std::array<RailPlace, RankCard::kRailsMax>>();
  RankCard card;
  std::vector<std::unique_ptr<fabric::Nic>> rails;
  const std::vector<std::string> addresses =
      address_list(std::string(get_text(welcome.address, "address").value()));
  if (addresses.size() > RankCard::kRailsMax) {
    return Error{fmt::format("{} addresses for a rank, which has at most {} rails",
                             addresses.size(), RankCard::kRailsMax)};
  }
  for (const std::string& address : addresses) {
    options.rail = static_cast<std::uint32_t>(rails.size());
    options.address = address;
    RailPlace& place = (*parts.rails)[rails.size()];
    place = {network, rails.size()};
    options.find_context = &place;
    Result<std::unique_ptr<fabric::UdpNic>> nic = fabric::open_udp(options);
    if (!nic.ok()) return nic.error();
    card.rails[rails.size()] = nic.value()->address();
    parts.address += (rails.empty() ? "" : " and ") + to_string(nic.value()->address());
    rails.push_back(std::move(nic.value()));
  }
  if (Result<void> told = network.publish(network.context, rank, card); !told.ok()) {
    return told.error();
  }
  return rails.size() == 1 ? std::move(rails.front()) : lci::make_rails_nic(std::move(rails));
}

Result<std::unique_ptr<RankContext>> RankContext::join(const Welcome& welcome, int job_fd,
                                                       std::optional<Board> board, Fd life,
                                                       const NetworkPlace* network) {
  const std::uint32_t rank = welcome.head.rank;
  const auto wrong = [rank](const Error& error) {
    return Error{fmt::format("rank {}: {}", rank, error.text)};
  };
  Parts parts;
  parts.fatal = std::make_unique<FatalLink>();
  lci::RealEndpointOptions options;
  options.faults =
      fault_plan_of(std::string(get_text(welcome.faults, "faults").value()), welcome.seed);
  options.faulty.epoch = Ps{welcome.epoch_ps};
  if (options.faults.has_value()) {
    parts.fatal->repeat = "; to see it again: " + fabric::repeat_line(*options.faults);
  }
  const bool only_network = static_cast<WorldKind>(welcome.world) == WorldKind::udp;
  const bool several = network != nullptr || several_nodes(welcome);
  const bool on_network = only_network || several;
  Result<bool> hrx = lci::choose_hrx(std::string(get_text(welcome.lci, "lci").value()),
                                     options.faults.value_or(fabric::FaultPlan{}), on_network,
                                     on_network ? "udp" : "shm");
  if (!hrx.ok()) return wrong(hrx.error());
  options.hrx = hrx.value();
  if (on_network || options.hrx) {
    Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::open(job_fd, welcome.nonce);
    if (!job.ok()) return wrong(job.error());
    parts.job = std::move(job.value());
    parts.memory = std::make_unique<MemoryPlace>(
        MemoryPlace{parts.job.get(), several_nodes(welcome) ? life.get() : -1});
  }
  options.direct.epoch = Ps{welcome.epoch_ps};
  options.direct.wait = wait_plan_of(welcome);
  options.direct.fatal = end_job;
  options.direct.fatal_context = parts.fatal.get();
  options.reliable.epoch = Ps{welcome.epoch_ps};
  options.reliable.left = has_left;
  options.reliable.context = parts.job.get();
  std::unique_ptr<fabric::Nic> nic;
  if (only_network) {
    if (Result<void> joined = parts.job->join(rank); !joined.ok()) return wrong(joined.error());
  } else {
    Result<std::unique_ptr<fabric::Nic>> node =
        fabric::attach_shm(job_fd, rank, {.nonce = welcome.nonce});
    if (!node.ok()) return wrong(node.error());
    nic = std::move(node.value());
  }
  if (on_network) {
    options.node = std::move(nic);
    if (network != nullptr) options.near = network->near;
    if (several && network == nullptr && !only_network) options.near = near_ranks(welcome);
    if (several) options.linger_max = kLingerMax;
    const NetworkPlace in_memory{{}, publish_in_memory, find_in_memory, parts.memory.get()};
    Result<std::unique_ptr<fabric::Nic>> udp =
        open_network(welcome, network != nullptr ? *network : in_memory, parts);
    if (!udp.ok()) return wrong(udp.error());
    nic = std::move(udp.value());
  }
  show_paths(welcome, *nic, on_network, options.near, options.hrx, parts.address);
  parts.endpoint = std::make_unique<lci::RealEndpoint>(std::move(nic), std::move(options));
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

void RankContext::ended(System system) {
  // What its last call sent must not wait for the rank to poll again.
  parts_.endpoint->settle();
  ProcessContext::ended(system);
}

void RankContext::linger() {
  parts_.endpoint->linger();
  if (parts_.job != nullptr) parts_.job->leave(rank());
}

std::string RankContext::processor_name() const { return host_name(); }

}  // namespace fairlead::run
