#include "fairlead/run/join/launched_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/host_address.h"
#include "fairlead/run/join/node_meeting.h"
#include "fairlead/run/probes.h"
#include "fairlead/run/rank_context.h"
#include "fairlead/run/welcome.h"

namespace fairlead::run {
namespace {

// Every rank has passed a fence when the leader begins to wait: who does not come now is in
// trouble.
constexpr std::chrono::milliseconds kMeetingLimit = std::chrono::seconds(60);
constexpr const char kNodeKey[] = "node";

NodeHello make_hello(std::uint32_t rank, const JobSecret& secret) {
  auto hello = make_message<NodeHello>(rank);
  hello.secret = secret;
  const CpuLimits limits = cpu_limits();
  if (limits.cgroup_cpus > 0) {
    hello.quota = static_cast<std::uint32_t>(std::max(1.0, limits.cgroup_cpus));
  }
  for (const std::uint32_t processor : limits.allowed) {
    if (processor / 64 < NodeHello::kProcessorWords) {
      hello.processors[processor / 64] |= std::uint64_t{1} << processor % 64;
    }
  }
  return hello;
}

// A processor each or not: of all that the node's ranks may use.
WaitPlan wait_plan_for(const std::vector<NodeHello>& hellos) {
  std::uint32_t processors = 0;
  for (std::size_t word = 0; word < NodeHello::kProcessorWords; ++word) {
    std::uint64_t all = 0;
    for (const NodeHello& hello : hellos) all |= hello.processors[word];
    processors += static_cast<std::uint32_t>(std::popcount(all));
  }
  for (const NodeHello& hello : hellos) {
    if (hello.quota != 0) processors = std::min(processors, hello.quota);
  }
  return hellos.size() <= processors ? wait_plan_dedicated() : wait_plan_oversubscribed();
}

Result<NodeCard> card_of(JobExchange& exchange, std::uint32_t leader) {
  const Result<std::string> text = exchange.get(leader, kNodeKey);
  if (!text.ok()) return text.error();
  Result<NodeCard> card = parse_card(std::as_bytes(std::span(text.value())));
  if (!card.ok()) {
    return Error{fmt::format("rank {} cannot join rank {}: {}", exchange.place().rank, leader,
                             card.error().text)};
  }
  return card;
}

// Nodes that are one host after all, as where a launcher was told to pretend, need no network but
// the host's own.
Result<std::string> address_for(JobExchange& exchange) {
  if (const char* told = std::getenv(kAddressVariable); told != nullptr) {
    return own_addresses(told);
  }
  const JobPlace& place = exchange.place();
  const std::string own = host_name();
  for (std::uint32_t node = 0; node < place.nodes(); ++node) {
    const Result<NodeCard> card = card_of(exchange, place.ranks_of(node).front());
    if (!card.ok()) return card.error();
    if (get_text(card.value().host, "host").value() != own) return outer_address();
  }
  return std::string("127.0.0.1");
}

constexpr const char kPlaceKey[] = "place";

// NetworkPlace's functions; their context is the exchange.
Result<void> publish_address(void* context, std::uint32_t, std::span<const std::byte> own) {
  auto& exchange = *static_cast<JobExchange*>(context);
  const Result<void> put =
      exchange.put(kPlaceKey, {reinterpret_cast<const char*>(own.data()), own.size()});
  if (!put.ok()) return put;
  return exchange.fence();
}
bool find_address(void* context, Peer peer, std::span<std::byte> address) {
  const Result<std::string> text = static_cast<JobExchange*>(context)->get(peer, kPlaceKey);
  if (!text.ok() || text.value().size() != address.size()) return false;
  std::memcpy(address.data(), text.value().data(), address.size());
  return true;
}

// What the environment says of the network to other nodes.
Result<void> choose_network(WorldOptions& options, JobGround& ground) {
  const char* const network = std::getenv(kNetworkVariable);
  const std::string name = network != nullptr ? network : "udp";
  if (!is_network(name)) {
    return Error{fmt::format("{}={}: unknown; valid: udp, ofi", kNetworkVariable, name)};
  }
  ground.network = name == "ofi" ? Network::ofi : Network::udp;
  if (const char* provider = std::getenv(kProviderVariable); provider != nullptr) {
    options.provider = provider;
  }
  if (options.provider.size() < Welcome::kProviderBytes) return {};
  return Error{fmt::format("{}: too long", kProviderVariable)};
}

// What a rank has in hand once its node has met.
struct Seat {
  Welcome welcome;
  Fd job;
  Fd board;
};

struct NodeMemory {
  std::unique_ptr<fabric::ShmJob> job;
  Board board;
};

Result<NodeMemory> make_memory(std::uint32_t ranks) {
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::create({.ranks = ranks});
  if (!job.ok()) return job.error();
  Result<Board> board = Board::create(ranks);
  if (!board.ok()) return board.error();
  return NodeMemory{std::move(job.value()), std::move(board.value())};
}

Fd duplicate(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

Result<Seat> lead(JobExchange& exchange, NodeLeader leader,
                  const std::vector<std::uint32_t>& others) {
  const JobPlace& place = exchange.place();
  Result<std::vector<NodeLeader::Member>> members = leader.gather(others, kMeetingLimit);
  if (!members.ok()) return members.error();
  Result<NodeMemory> memory = make_memory(place.ranks);
  if (!memory.ok()) return memory.error();
  const fabric::ShmJob& job = *memory.value().job;
  Board& board = memory.value().board;
  board.slot(place.rank).pid.store(static_cast<std::uint32_t>(::getpid()));
  std::vector<NodeHello> hellos{make_hello(place.rank, leader.card().secret)};
  for (const NodeLeader::Member& member : members.value()) {
    hellos.push_back(member.hello);
    board.slot(member.hello.head.rank).pid.store(static_cast<std::uint32_t>(member.pid));
  }
  WorldOptions options;
  options.ranks = place.ranks;
  JobGround ground{WorldKind::shm, job.fd(), job.nonce(), job.epoch(), {}, {}};
  if (Result<void> r = choose_network(options, ground); !r.ok()) return r.error();
  if (place.nodes() > 1) {
    // One key for all nodes: the secret of the first one's card.
    const Result<NodeCard> first = card_of(exchange, 0);
    if (!first.ok()) return first.error();
    static_assert(sizeof(JobSecret) == sizeof ground.key);
    std::memcpy(ground.key.data(), &first.value().secret, sizeof ground.key);
    Result<std::string> address = address_for(exchange);
    if (!address.ok()) return address.error();
    options.address = std::move(address.value());
  }
  const WaitPlan plan = wait_plan_for(hellos);
  const std::array descriptors{job.fd(), board.fd()};
  for (const NodeLeader::Member& member : members.value()) {
    const Welcome welcome = make_welcome(options, ground, plan, member.hello.head.rank);
    const Result<void> sent = send_welcome(member.socket.get(), welcome, descriptors);
    if (!sent.ok()) return sent.error();
  }
  return Seat{make_welcome(options, ground, plan, place.rank), duplicate(job.fd()),
              duplicate(board.fd())};
}

Result<Seat> follow(JobExchange& exchange, std::uint32_t leader) {
  const std::uint32_t rank = exchange.place().rank;
  const Result<NodeCard> card = card_of(exchange, leader);
  if (!card.ok()) return card.error();
  Result<Joined> joined =
      join_leader(card.value(), make_hello(rank, card.value().secret), kMeetingLimit);
  if (!joined.ok()) return joined.error();
  const Welcome& welcome = joined.value().welcome;
  if (welcome.head.rank != rank || welcome.ranks != exchange.place().ranks) {
    return Error{fmt::format("rank {} of {} was welcomed as rank {} of {}", rank,
                             exchange.place().ranks, welcome.head.rank, welcome.ranks)};
  }
  return Seat{welcome, std::move(joined.value().job), std::move(joined.value().board)};
}

Result<Seat> meet(JobExchange& exchange, const std::vector<std::uint32_t>& mine) {
  const JobPlace& place = exchange.place();
  std::optional<NodeLeader> leader;
  if (place.rank == mine.front()) {
    Result<NodeLeader> listening = NodeLeader::listen(place.rank, place.job, host_name());
    if (!listening.ok()) return listening.error();
    leader.emplace(std::move(listening.value()));
    const NodeCard& card = leader->card();
    const Result<void> put =
        exchange.put(kNodeKey, {reinterpret_cast<const char*>(&card), sizeof card});
    if (!put.ok()) return put.error();
  }
  if (place.ranks > 1) {
    if (const Result<void> fenced = exchange.fence(); !fenced.ok()) return fenced.error();
  }
  if (leader.has_value()) {
    return lead(exchange, std::move(*leader), {mine.begin() + 1, mine.end()});
  }
  return follow(exchange, mine.front());
}

Result<std::unique_ptr<NodeWatch>> watch_node(const Seat& seat,
                                              const std::vector<std::uint32_t>& mine) {
  if (mine.size() == 1) return std::unique_ptr<NodeWatch>();
  Result<std::unique_ptr<fabric::ShmJob>> job =
      fabric::ShmJob::open(seat.job.get(), seat.welcome.nonce);
  if (!job.ok()) return job.error();
  Result<Board> board = Board::attach(duplicate(seat.board.get()), seat.welcome.ranks);
  if (!board.ok()) return board.error();
  return NodeWatch::start(std::move(job.value()), std::move(board.value()), seat.welcome.head.rank,
                          mine);
}

}  // namespace

void LaunchedJob::finish() {
  if (!std::exchange(finished_, true)) exchange_->finish();
}

void LaunchedJob::abort(int code, const std::string& reason) {
  // hydra ends its proxies at once, with what they have not passed on of the rank's last words.
  constexpr int kLastWordsMs = 100;
  (void)::poll(nullptr, 0, kLastWordsMs);
  // A job that was told to stop never looks like a success, whatever the code.
  exchange_->abort((code & 0xff) != 0 ? code & 0xff : 1, reason);
  constexpr int kLongestMs = 5000;
  (void)::poll(nullptr, 0, kLongestMs);
}

Result<std::unique_ptr<RankContext>> join_launched(std::unique_ptr<JobExchange> exchange) {
  const JobPlace& place = exchange->place();
  const std::vector<std::uint32_t> mine = place.ranks_of(place.node_of[place.rank]);
  Result<Seat> seat = meet(*exchange, mine);
  if (!seat.ok()) return seat.error();
  Result<std::unique_ptr<NodeWatch>> watch = watch_node(seat.value(), mine);
  if (!watch.ok()) return watch.error();
  Result<Board> board = Board::attach(std::move(seat.value().board), place.ranks);
  if (!board.ok()) return board.error();
  NetworkPlace network{std::vector<bool>(place.ranks), publish_address, find_address,
                       exchange.get()};
  for (const std::uint32_t rank : mine) network.near[rank] = true;
  Result<std::unique_ptr<RankContext>> context =
      RankContext::join(seat.value().welcome, seat.value().job.get(), std::move(board.value()),
                        Fd(), place.nodes() > 1 ? &network : nullptr);
  if (!context.ok()) return context.error();
  context.value()->adopt(
      std::make_unique<LaunchedJob>(std::move(exchange), std::move(watch.value())));
  return context;
}

}  // namespace fairlead::run
