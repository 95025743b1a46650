#include "fairlead/run/join/join_launched.h"

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
#include "fairlead/run/job/engine_process.h"
#include "fairlead/run/join/launch_settings.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/machine/probes.h"
#include "fairlead/run/node/node_meeting.h"
#include "fairlead/run/rank/rank_context.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

// Every rank has passed a fence when the leader begins to wait: who does not come now is in
// trouble.
constexpr std::chrono::milliseconds kMeetingLimit = std::chrono::seconds(60);
constexpr const char kNodeKey[] = "node";

NodeHello make_hello(std::uint32_t rank, const JobSecret& secret, const LaunchSettings& settings) {
  auto hello = make_message<NodeHello>(rank);
  hello.secret = secret;
  hello.settings = settings.digest();
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

// A processor each or not, for the ranks and their engine: of all that the node's ranks may use.
WaitPlan wait_plan_for(const std::vector<NodeHello>& hellos, bool engine) {
  std::uint32_t processors = 0;
  for (std::size_t word = 0; word < NodeHello::kProcessorWords; ++word) {
    std::uint64_t all = 0;
    for (const NodeHello& hello : hellos) all |= hello.processors[word];
    processors += static_cast<std::uint32_t>(std::popcount(all));
  }
  for (const NodeHello& hello : hellos) {
    if (hello.quota != 0) processors = std::min(processors, hello.quota);
  }
  return hellos.size() + (engine ? 1 : 0) <= processors ? wait_plan_dedicated()
                                                        : wait_plan_oversubscribed();
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
  for (std::uint32_t node = 0; node < place.nodes.count(); ++node) {
    const Result<NodeCard> card = card_of(exchange, place.nodes.leader_of(node));
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

constexpr const char kSettingsKey[] = "settings";

// The first rank's settings, which are the job's. Error: this rank's are others.
Result<LaunchSettings> settings_of_job(JobExchange& exchange, const LaunchSettings& own) {
  const JobPlace& place = exchange.place();
  if (place.rank == 0 || place.nodes.count() == 1) return own;
  const Result<std::string> text = exchange.get(0, kSettingsKey);
  if (!text.ok()) return text.error();
  Result<LaunchSettings> jobs = LaunchSettings::parse(text.value());
  if (!jobs.ok()) return jobs;
  if (Result<void> r = own.agree_with(jobs.value(), place.rank); !r.ok()) return r.error();
  return jobs;
}

// Where a node is reached, as its leader publishes it.
struct NodeReach {
  RankCard pulse;
  RankCard engine;
};
constexpr const char kReachKey[] = "reach";

// What a rank has in hand once its node has met.
struct Seat {
  Welcome welcome;
  Fd job;
  Fd board;
  Fd pulse;  // of several nodes
  Fd bell;   // of the NI engine
};

struct NodeMemory {
  std::unique_ptr<fabric::ShmJob> job;
  Board board;
};

Result<NodeMemory> make_memory(const WorldOptions& options, const NodeMap& nodes) {
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::create(
      {.ranks = nodes.ranks(), .region_bytes = region_bytes(options), .nodes = nodes});
  if (!job.ok()) return job.error();
  Result<Board> board = Board::create(nodes.ranks());
  if (!board.ok()) return board.error();
  return NodeMemory{std::move(job.value()), std::move(board.value())};
}

Fd duplicate(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

// What the leader makes of the settings, its own part of the node being `ground`.
Result<LaunchSettings::Job> plan_job(JobExchange& exchange, const LaunchSettings& own,
                                     const NodeCard& card, JobGround& ground) {
  const JobPlace& place = exchange.place();
  const Result<LaunchSettings> settings = settings_of_job(exchange, own);
  if (!settings.ok()) return settings.error();
  Result<LaunchSettings::Job> job = settings.value().job(place.nodes);
  if (!job.ok()) return job;
  WorldOptions& options = job.value().options;
  ground.network = job.value().network;
  // One key for all nodes: the secret of the first one's card.
  const Result<NodeCard> first = place.rank == 0 ? card : card_of(exchange, 0);
  if (!first.ok()) return first.error();
  static_assert(sizeof(JobSecret) == sizeof ground.key);
  std::memcpy(ground.key.data(), &first.value().secret, sizeof ground.key);
  if (place.nodes.count() == 1) return job;
  Result<std::string> address = address_for(exchange);
  if (!address.ok()) return address.error();
  options.address = std::move(address.value());
  return job;
}

Result<LoneEngine> start_engine_for(const LaunchSettings::Job& job, const JobGround& ground,
                                    const WaitPlan& wait, std::uint32_t node,
                                    const std::vector<std::uint32_t>& pids) {
  if (!has_engines(job.options)) return LoneEngine{};
  if (std::find(pids.begin(), pids.end(), 0U) != pids.end()) {
    return Error{
        "FAIRLEAD_LCI=nirx: the ranks of this node are in several process namespaces, and their "
        "NI engine could not see them end; try FAIRLEAD_LCI=hrx"};
  }
  return start_lone_engine({job.options, ground, wait, node}, pids);
}

Result<Seat> lead(JobExchange& exchange, NodeLeader leader, const LaunchSettings& own,
                  const std::vector<std::uint32_t>& others) {
  const JobPlace& place = exchange.place();
  Result<std::vector<NodeLeader::Member>> members = leader.gather(others, kMeetingLimit);
  if (!members.ok()) return members.error();
  std::vector<std::uint32_t> pids{static_cast<std::uint32_t>(::getpid())};
  std::vector<NodeHello> hellos{make_hello(place.rank, leader.card().secret, own)};
  for (const NodeLeader::Member& member : members.value()) {
    const std::uint32_t theirs = member.hello.settings;
    if (theirs != 0 && theirs != own.digest()) {
      return Error{fmt::format(
          "rank {} has other settings (FAIRLEAD_AUTH, ...) in its environment than rank {}: give "
          "all ranks the same",
          member.hello.head.rank, place.rank)};
    }
    hellos.push_back(member.hello);
    pids.push_back(static_cast<std::uint32_t>(member.pid));
  }
  JobGround ground;
  const Result<LaunchSettings::Job> planned = plan_job(exchange, own, leader.card(), ground);
  if (!planned.ok()) return planned.error();
  const WorldOptions& options = planned.value().options;
  Result<NodeMemory> memory = make_memory(options, place.nodes);
  if (!memory.ok()) return memory.error();
  const fabric::ShmJob& job = *memory.value().job;
  Board& board = memory.value().board;
  ground.fd = job.fd();
  ground.nonce = job.nonce();
  ground.epoch = job.epoch();
  const bool engine = has_engines(options);
  const WaitPlan plan = wait_plan_for(hellos, engine);
  Result<LoneEngine> started =
      start_engine_for(planned.value(), ground, plan, place.nodes.node_of(place.rank), pids);
  if (!started.ok()) return started.error();
  if (engine) fabric::engine::queue_area(job, place.rank).status().pid.store(started.value().pid);
  NodeReach reach{{}, started.value().where};
  Fd pulse;
  if (place.nodes.count() > 1) {
    Result<Fd> opened = NodePulse::open(options.address, &reach.pulse);
    if (!opened.ok()) return opened.error();
    pulse = std::move(opened.value());
    const Result<void> put =
        exchange.put(kReachKey, {reinterpret_cast<const char*>(&reach), sizeof reach});
    if (!put.ok()) return put.error();
  }
  board.slot(place.rank).pid.store(pids[0]);
  std::vector<int> descriptors{job.fd(), board.fd()};
  if (pulse.valid() || engine) descriptors.push_back(pulse.valid() ? pulse.get() : board.fd());
  if (engine) descriptors.push_back(started.value().bell.get());
  for (std::size_t i = 0; i < members.value().size(); ++i) {
    board.slot(members.value()[i].hello.head.rank).pid.store(pids[i + 1]);
  }
  const auto welcome_for = [&](std::uint32_t rank) {
    Welcome welcome = make_welcome(options, ground, plan, rank);
    welcome.silence_ps = planned.value().silence.count;
    return welcome;
  };
  for (const NodeLeader::Member& member : members.value()) {
    const Welcome welcome = welcome_for(member.hello.head.rank);
    const Result<void> sent = send_welcome(member.socket.get(), welcome, descriptors);
    if (!sent.ok()) return sent.error();
  }
  return Seat{welcome_for(place.rank), duplicate(job.fd()), duplicate(board.fd()), std::move(pulse),
              std::move(started.value().bell)};
}

Result<Seat> follow(JobExchange& exchange, const LaunchSettings& own, std::uint32_t leader) {
  const std::uint32_t rank = exchange.place().rank;
  const Result<NodeCard> card = card_of(exchange, leader);
  if (!card.ok()) return card.error();
  Result<Joined> joined =
      join_leader(card.value(), make_hello(rank, card.value().secret, own), kMeetingLimit);
  if (!joined.ok()) return joined.error();
  const Welcome& welcome = joined.value().welcome;
  if (welcome.head.rank != rank || welcome.ranks != exchange.place().ranks) {
    return Error{fmt::format("rank {} of {} was welcomed as rank {} of {}", rank,
                             exchange.place().ranks, welcome.head.rank, welcome.ranks)};
  }
  return Seat{welcome, std::move(joined.value().job), std::move(joined.value().board),
              std::move(joined.value().life), std::move(joined.value().bell)};
}

Result<Seat> meet(JobExchange& exchange, const LaunchSettings& own,
                  const std::vector<std::uint32_t>& mine) {
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
    if (place.rank == 0 && place.nodes.count() > 1) {
      if (const Result<void> r = exchange.put(kSettingsKey, own.text()); !r.ok()) return r.error();
    }
  }
  if (place.ranks > 1) {
    if (const Result<void> fenced = exchange.fence(); !fenced.ok()) return fenced.error();
  }
  if (leader.has_value()) {
    return lead(exchange, std::move(*leader), own, {mine.begin() + 1, mine.end()});
  }
  return follow(exchange, own, mine.front());
}

// By the leader, after the fence behind which all nodes are at work: where the others are.
Result<void> learn_reaches(JobExchange& exchange, const Seat& seat) {
  const JobPlace& place = exchange.place();
  Result<Board> board = Board::attach(duplicate(seat.board.get()), place.ranks);
  if (!board.ok()) return board.error();
  Result<std::unique_ptr<fabric::ShmJob>> job =
      fabric::ShmJob::open(seat.job.get(), seat.welcome.nonce);
  if (!job.ok()) return job.error();
  const std::uint32_t own = place.nodes.node_of(place.rank);
  for (std::uint32_t node = 0; node < place.nodes.count(); ++node) {
    if (node == own) continue;
    const std::uint32_t first = place.nodes.leader_of(node);
    const Result<std::string> text = exchange.get(first, kReachKey);
    if (!text.ok()) return text.error();
    NodeReach reach;
    if (text.value().size() != sizeof reach) {
      return Error{fmt::format("rank {} says in another form where its node is", first)};
    }
    std::memcpy(static_cast<void*>(&reach), text.value().data(), sizeof reach);
    NodePulse::set_place(board.value(), first, reach.pulse);
    if (seat.welcome.engines == 0) continue;
    job.value()->publish_card(first, std::as_bytes(std::span(&reach.engine, 1)));
  }
  return {};
}

Result<std::unique_ptr<NodeWatch>> watch_node(Seat& seat, const JobPlace& place,
                                              const std::vector<std::uint32_t>& mine) {
  const Welcome& welcome = seat.welcome;
  const bool engine = welcome.engines != 0;
  if (mine.size() == 1 && place.nodes.count() == 1 && !engine) return std::unique_ptr<NodeWatch>();
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::open(seat.job.get(), welcome.nonce);
  if (!job.ok()) return job.error();
  Result<Board> board = Board::attach(duplicate(seat.board.get()), welcome.ranks);
  if (!board.ok()) return board.error();
  NodeWatchOptions options;
  options.self = place.rank;
  options.ring = mine;
  if (place.nodes.count() > 1) {
    options.pulse = std::move(seat.pulse);
    options.pulses = {place.rank, place.nodes, {}, Ps{welcome.silence_ps}};
    std::copy(std::begin(welcome.key), std::end(welcome.key), options.pulses.key.begin());
  }
  if (engine) {
    options.nodes = place.nodes;
    options.engine = fabric::engine::queue_area(*job.value(), mine.front())
                         .status()
                         .pid.load(std::memory_order_acquire);
  }
  return NodeWatch::start(std::move(job.value()), std::move(board.value()), std::move(options));
}

// Takes the exchange over when it succeeds.
Result<std::unique_ptr<RankContext>> join_by(std::unique_ptr<JobExchange>& exchange) {
  const JobPlace& place = exchange->place();
  const std::span<const Rank> own = place.nodes.ranks_of(place.nodes.node_of(place.rank));
  const std::vector<std::uint32_t> mine(own.begin(), own.end());
  const Result<LaunchSettings> settings = LaunchSettings::of_environment();
  if (!settings.ok()) return settings.error();
  Result<Seat> met = meet(*exchange, settings.value(), mine);
  if (!met.ok()) return met.error();
  Seat& seat = met.value();
  Result<Board> board = Board::attach(duplicate(seat.board.get()), place.ranks);
  if (!board.ok()) return board.error();
  NetworkPlace network{std::vector<bool>(place.ranks), publish_address, find_address,
                       exchange.get()};
  for (const std::uint32_t rank : mine) network.near[rank] = true;
  const bool several = place.nodes.count() > 1;
  const bool engine = seat.welcome.engines != 0;
  if (several && engine) {
    // Else ranks publish where they are, behind a fence of their own.
    if (const Result<void> fenced = exchange->fence(); !fenced.ok()) return fenced.error();
  }
  std::unique_ptr<NodeWatch> watch;
  const auto watch_now = [&]() -> Result<void> {
    if (several && place.rank == mine.front()) {
      const Result<void> learned = learn_reaches(*exchange, seat);
      if (!learned.ok()) return learned;
    }
    Result<std::unique_ptr<NodeWatch>> started = watch_node(seat, place, mine);
    if (!started.ok()) return started.error();
    watch = std::move(started.value());
    return {};
  };
  if (engine) {
    if (const Result<void> watching = watch_now(); !watching.ok()) return watching.error();
  }
  Result<std::unique_ptr<RankContext>> context =
      RankContext::join(seat.welcome, seat.job.get(), std::move(board.value()), Fd(),
                        several && !engine ? &network : nullptr, std::move(seat.bell));
  if (!context.ok()) return context.error();
  if (watch == nullptr) {
    if (const Result<void> watching = watch_now(); !watching.ok()) return watching.error();
  }
  context.value()->adopt(std::make_unique<LaunchedJob>(std::move(exchange), std::move(watch)));
  return context;
}

}  // namespace

Result<std::unique_ptr<RankContext>> join_launched(std::unique_ptr<JobExchange> exchange) {
  Result<std::unique_ptr<RankContext>> context = join_by(exchange);
  if (!context.ok() && exchange->place().ranks > 1) {
    // The others wait for this rank, and not every launcher takes its exit for a failure.
    const std::string& why = context.error().text;
    fmt::print(stderr, "fairlead: rank {} cannot join the job: {}\n", exchange->place().rank, why);
    LaunchedJob(std::move(exchange), nullptr).abort(1, why);
  }
  return context;
}

}  // namespace fairlead::run
