#include "fairlead/run/hosts/node_agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/lines/line_nic.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/hosts/node_link.h"
#include "fairlead/run/hosts/node_messages.h"
#include "fairlead/run/job/binding.h"
#include "fairlead/run/job/engine_process.h"
#include "fairlead/run/job/job.h"
#include "fairlead/run/join/join_launched.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/machine/probes.h"
#include "fairlead/run/rank/trace_parts.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

using Clock = NodeLink::Clock;
using std::chrono::milliseconds;

// The command waits for all agents before it goes on.
constexpr milliseconds kSetupLimit = std::chrono::minutes(5);
// For the first host to make the job's memory, and how often the others look for it.
constexpr milliseconds kMemoryLimit = std::chrono::seconds(20);
constexpr int kMemoryLookMs = 2;
// What the ranks wrote last is passed on, if the command takes it.
constexpr milliseconds kLastWords = std::chrono::seconds(60);

AgentHello make_hello() {
  AgentHello hello{host_name(), machine_id(), {}};
  struct stat network {};
  if (::stat("/proc/self/ns/net", &network) == 0) {
    hello.network = fmt::format("{} {}", hello.machine, network.st_ino);
  }
  return hello;
}

// Where sshd was called.
std::string address_of_shell() {
  const char* const said = std::getenv("SSH_CONNECTION");  // client, its port, server, its port
  if (said == nullptr) return {};
  const std::string text = said;
  std::size_t at = 0;
  for (int skipped = 0; skipped < 2; ++skipped) {
    at = text.find(' ', at);
    if (at == std::string::npos) return {};
    ++at;
  }
  const std::string server = text.substr(at, text.find(' ', at) - at);
  return server.starts_with("127.") || server == "::1" ? std::string() : server;
}

// The address of this host for the ranks of other nodes.
Result<std::string> choose_address(const AgentSetup& setup) {
  if (setup.world.address != WorldOptions{}.address) return own_addresses(setup.world.address);
  if (const char* told = std::getenv(kAddressVariable); told != nullptr) return own_addresses(told);
  if (setup.one_network) return setup.world.address;
  const std::string shell = address_of_shell();
  return shell.empty() ? outer_address() : shell;
}

// Descriptors 0 to 2 become pipes to and from this process, for the ranks to inherit.
class RankStreams {
 public:
  static Result<RankStreams> make() {
    RankStreams streams;
    for (int stream = 0; stream < 3; ++stream) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) {
        return Error{fmt::format("no pipe for the ranks: {}", std::strerror(errno))};
      }
      const int ours = stream == 0 ? 1 : 0;
      streams.ours_[static_cast<std::size_t>(stream)] = Fd(ends[ours]);
      ::dup2(ends[1 - ours], stream);
      ::close(ends[1 - ours]);
    }
    return streams;
  }
  int ours(int stream) const { return ours_[static_cast<std::size_t>(stream)].get(); }
  void end_input() { ours_[0].reset(); }
  // The ranks are gone: what they wrote ends.
  static void release() {
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int stream = 0; stream < 3; ++stream) ::dup2(null.get(), stream);
  }

 private:
  std::array<Fd, 3> ours_;
};

class Agent final : public JobWatch {
 public:
  explicit Agent(NodeLink link) : link_(std::move(link)) {}

  int run() {
    link_.send(NodeKind::hello, 0, body_of(make_hello()));
    Result<AgentSetup> setup = wait_for_setup();
    if (!setup.ok()) return refuse(setup.error());
    setup_ = std::move(setup.value());
    Result<AgentReport> report = run_ranks();
    if (!report.ok()) return refuse(report.error());
    finish(report.value());
    return 0;
  }

  // --- JobWatch
  void guardian_begins() override {
    // Or nobody would see the end of what they carry.
    link_.close();
    streams_.reset();
  }
  void rank_ended(std::uint32_t) override {}
  void run(GuardianLink& guardian) override {
    while (true) {
      while (const auto note = guardian.receive()) tell_address(*note);
      if (guardian.ranks_ended() && !std::exchange(end_told_, true)) {
        link_.send(NodeKind::ended, 0, {});
      }
      if (guardian.over()) return;
      while (const auto message = take()) obey(*message, &guardian);
      move_data();
      if (!wait(guardian.control())) {
        // Nobody is left to run for.
        guardian.abort(1, "the command is gone");
        return guardian.await_end();
      }
    }
  }

 private:
  int refuse(const Error& error) {
    // It was not able to say anything else: the command takes what comes on the error stream.
    AgentReport report{1, error.text, {}};
    finish(report);
    return 1;
  }

  Result<AgentSetup> wait_for_setup() {
    const auto until = Clock::now() + kSetupLimit;
    while (link_.open() && Clock::now() < until) {
      (void)wait(-1);
      while (const auto message = take()) {
        if (message->kind == NodeKind::setup) return parse_agent_setup(message->body);
        if (message->kind == NodeKind::clock) tell_clock();
      }
      if (!wrong_.empty()) return Error{wrong_};
    }
    ::_exit(1);  // nobody is there to be told
  }

  Result<AgentReport> run_ranks() {
    JobPlan plan;
    plan.options = setup_.world;
    if (Result<void> checked = check_shm_options(plan.options); !checked.ok()) {
      return checked.error();
    }
    if (::chdir(setup_.directory.c_str()) != 0) {
      return Error{fmt::format("cannot go to the directory {}: {}; try --wdir", setup_.directory,
                               std::strerror(errno))};
    }
    const bool by_memory = !setup_.world.memory.empty();
    if (setup_.count < setup_.world.ranks && !by_memory) {
      Result<std::string> address = choose_address(setup_);
      if (!address.ok()) return address.error();
      plan.options.address = std::move(address.value());
      if (plan.options.address.size() >= Welcome::kAddressBytes) {
        return Error{fmt::format("the address {} is too long", plan.options.address)};
      }
    }
    const ExecPlan exec{setup_.program, setup_.arguments, setup_.environment,
                        setup_.working_directory};
    plan.exec = &exec;
    plan.label = setup_.label;
    const bool engines = has_engines(setup_.world);
    if (engines && address_list(plan.options.address).size() > RankCard::kRailsMax) {
      return Error{fmt::format("{}: an NI engine has at most {} rails", plan.options.address,
                               RankCard::kRailsMax)};
    }
    // The engines of the machine's other nodes take processors too.
    Result<Binding> binding = choose_binding(setup_.world.bind, setup_.machine_ranks, cpu_limits(),
                                             engines ? setup_.machine_nodes : 0);
    if (!binding.ok()) return binding.error();
    plan.binding = std::move(binding.value());
    if (std::vector<std::uint32_t>& all = plan.binding.engines; !all.empty()) {
      all = {all[setup_.machine_node]};
    }
    if (std::vector<std::uint32_t>& all = plan.binding.processors; !all.empty()) {
      all = {all.begin() + setup_.machine_first, all.begin() + setup_.machine_first + setup_.count};
    }
    const NodeMap nodes = nodes_of(setup_.world);
    Result<std::unique_ptr<fabric::ShmJob>> job = make_memory();
    if (!job.ok()) return job.error();
    job_ = std::move(job.value());
    const MemoryFile memory = memory_file(setup_.world);
    // Clocks differ by host.
    const Ps epoch = by_memory ? nanoseconds(monotonic_ns()) : job_->epoch();
    if (setup_.traced) {
      // The command asked for this clock to make the times of all hosts one.
      Result<std::string> parts =
          make_trace_folder(std::filesystem::temp_directory_path() / "fairlead-trace");
      if (!parts.ok()) return parts.error();
      plan.options.trace_path = parts_ = std::move(parts.value());
    }
    plan.ground = {setup_.world.on == "udp"        ? WorldKind::network
                   : by_memory && !memory.software ? WorldKind::memory
                                                   : WorldKind::shm,
                   job_->fd(),
                   job_->nonce(),
                   setup_.traced ? nanoseconds(setup_.epoch_ns) : epoch,
                   setup_.key,
                   {setup_.first, setup_.count},
                   setup_.world.on == "ofi" ? Network::ofi
                   : memory.software        ? Network::lines
                                            : Network::udp};
    plan.watch = this;
    Result<RankStreams> streams = RankStreams::make();
    if (!streams.ok()) return streams.error();
    streams_ = std::move(streams.value());
    input_ = DataSink(streams_->ours(0), 0);
    output_[0] = DataSource(streams_->ours(1), 1);
    output_[1] = DataSource(streams_->ours(2), 2);
    Result<RunReport> ended = run_job_on(std::move(plan));
    RankStreams::release();
    input_ = DataSink(-1, 0);  // nobody reads any more
    if (!ended.ok()) return ended.error();
    collect_counters(*job_, ended.value());
    if (engines) {
      const Peer node = nodes.node_of(setup_.first);
      collect_engine_counters(*job_, nodes, node, node + 1, ended.value());
    }
    return report_of(ended.value());
  }

  // In a file that all hosts map the first one makes what they share, and the others wait for it.
  Result<std::unique_ptr<fabric::ShmJob>> make_memory() {
    const WorldOptions& world = setup_.world;
    const MemoryFile file = memory_file(world);
    const bool makes = setup_.first == 0;
    const std::uint64_t nonce = memory_nonce(setup_.key);
    if (file.software) {
      Result<Fd> lines =
          makes ? fabric::make_line_file(file.path, world.ranks, nonce)
                : find<Fd>([&] { return fabric::find_line_file(file.path, world.ranks, nonce); },
                           [](const Fd& found) { return found.valid(); });
      if (!lines.ok()) return lines.error();
      lines_ = std::move(lines.value());
    }
    if (file.path.empty() || file.software) return fabric::ShmJob::create(memory_of(world, 0));
    using Job = std::unique_ptr<fabric::ShmJob>;
    Result<Job> job = makes ? fabric::ShmJob::create(memory_of(world, nonce))
                            : find<Job>([&] { return fabric::ShmJob::find(file.path, nonce); },
                                        [](const Job& found) { return found != nullptr; });
    if (job.ok()) job.value()->adopt(setup_.first, setup_.count);
    return job;
  }
  // What `look` returns once `is_there`, or an error.
  template <class Found, class Look, class IsThere>
  Result<Found> find(Look&& look, IsThere&& is_there) {
    const auto until = Clock::now() + kMemoryLimit;
    while (Clock::now() < until) {
      Result<Found> found = look();
      if (!found.ok() || is_there(found.value())) return found;
      (void)::poll(nullptr, 0, kMemoryLookMs);
      beat();
      while (const auto message = take()) {
        const Result<NodeFailure> failure = parse_node_failure(message->body);
        if (message->kind == NodeKind::abort && failure.ok()) return Error{failure.value().reason};
      }
      if (!link_.open()) ::_exit(1);  // nobody is there to be told
    }
    return Error{fmt::format(
        "--memory {}: what the first host made there did not show here within {} s: is it one "
        "file, in memory that all hosts map{}?",
        setup_.world.memory, kMemoryLimit.count() / 1000,
        memory_file(setup_.world).software ? "" : ", and coherent (else add \",software\")")};
  }

  AgentReport report_of(const RunReport& all) const {
    const auto first = all.ranks.begin() + setup_.first;
    return {all.exit_code, all.failure, {first, first + setup_.count}};
  }

  // Blocks until something may be done. False: the command is gone.
  bool wait(int guardian) {
    std::vector<pollfd> polls;
    if (guardian >= 0) polls.push_back({guardian, POLLIN, 0});
    link_.append_polls(polls);
    for (const DataSource& source : output_) {
      if (source.hungry()) polls.push_back({source.fd(), POLLIN, 0});
    }
    if (!input_.empty()) polls.push_back({input_.fd(), POLLOUT, 0});
    (void)::poll(polls.data(), polls.size(), kBeatMs);
    beat();
    const bool silent = !paused_ && Clock::now() - link_.heard() > milliseconds(kCommandSilenceMs);
    return link_.open() && !silent && wrong_.empty();
  }
  void beat() {
    link_.pump();
    if (Clock::now() < beat_at_) return;
    link_.send(NodeKind::beat, 0, {});
    beat_at_ = Clock::now() + milliseconds(kBeatMs);
  }
  // The next message that has come.
  std::optional<NodeMessage> take() {
    if (!wrong_.empty()) return std::nullopt;
    Result<std::optional<NodeMessage>> message = link_.next();
    if (message.ok()) return std::move(message.value());
    wrong_ = message.error().text;
    return std::nullopt;
  }
  void move_data() {
    for (DataSource& source : output_) source.pass_on(link_);
    if (streams_.has_value()) input_.pump(link_);
    if (input_ended_ && input_.empty() && streams_.has_value()) streams_->end_input();
  }

  // `guardian`: nullptr when the ranks are gone.
  void obey(const NodeMessage& message, GuardianLink* guardian) {
    switch (message.kind) {
      case NodeKind::address:
        if (message.rank < setup_.world.ranks && !is_here(message.rank) &&
            message.body.size() <= AddressNote::kCardBytes) {
          job_->publish_card(message.rank, std::as_bytes(std::span(message.body)));
        }
        break;
      case NodeKind::signal:
        if (const Result<std::uint32_t> number = parse_number(message.body);
            number.ok() && guardian != nullptr && number.value() < NSIG) {
          paused_ = number.value() == SIGTSTP;
          guardian->signal(static_cast<int>(number.value()));
        }
        break;
      case NodeKind::abort:
        if (const Result<NodeFailure> failure = parse_node_failure(message.body);
            failure.ok() && guardian != nullptr) {
          guardian->abort(failure.value().code, failure.value().reason);
        }
        break;
      case NodeKind::ended:
        if (guardian != nullptr) guardian->all_ended();
        break;
      case NodeKind::data:
        input_.add(message.body);
        break;
      case NodeKind::end:
        input_ended_ = true;
        break;
      case NodeKind::taken:
        if (const Result<std::uint32_t> bytes = parse_number(message.body);
            bytes.ok() && (message.rank == 1 || message.rank == 2)) {
          output_[message.rank - 1].taken(bytes.value());
        }
        break;
      case NodeKind::clock:
        tell_clock();
        break;
      default:
        break;
    }
  }
  void tell_clock() { link_.send(NodeKind::clock, 0, clock_body(monotonic_ns())); }
  bool is_here(std::uint32_t rank) const { return rank - setup_.first < setup_.count; }
  void tell_address(const AddressNote& note) {
    link_.send(NodeKind::address, note.head.rank,
               {reinterpret_cast<const char*>(note.card), note.size});
  }

  // The ranks are gone: what they wrote last, then the report, then their traces.
  void finish(const AgentReport& report) {
    pass_on([&] { return output_[0].ended() && output_[1].ended(); });
    link_.send(NodeKind::report, 0, body_of(report));
    pass_on([&] { return link_.sent(); });
    for (std::uint32_t i = 0; i < setup_.count && !parts_.empty(); ++i)
      send_trace(setup_.first + i);
    drop_trace_parts(parts_);
  }
  template <class Done>
  void pass_on(Done&& done) {
    const auto until = Clock::now() + kLastWords;
    while (!done() && Clock::now() < until && wait(-1)) {
      while (const auto message = take()) obey(*message, nullptr);
      for (DataSource& source : output_) source.pass_on(link_);
    }
  }
  // A piece at a time, as the command takes them.
  void send_trace(std::uint32_t rank) {
    std::ifstream part(rank_part(parts_, rank), std::ios::binary);
    std::string bytes(kNodeDataMax, '\0');
    while (link_.open() && link_.sent()) {
      part.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (part.gcount() == 0) return;
      link_.send(NodeKind::trace, rank, {bytes.data(), static_cast<std::size_t>(part.gcount())});
      pass_on([&] { return link_.sent(); });
    }
  }

  NodeLink link_;
  AgentSetup setup_;
  std::unique_ptr<fabric::ShmJob> job_;
  Fd lines_;  // the file of packets between hosts, as long as the job needs it
  std::optional<RankStreams> streams_;
  DataSink input_;
  std::array<DataSource, 2> output_;
  std::string parts_;  // folder of the ranks' traces; empty: none
  bool input_ended_ = false;
  bool paused_ = false;    // the command was stopped
  bool end_told_ = false;  // that the ranks have ended
  Clock::time_point beat_at_ = Clock::now();
  std::string wrong_;  // with what the command sent
};

}  // namespace

int run_node_agent() {
  survive_broken_pipes();
  Fd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  Fd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!in.valid() || !out.valid()) return 1;
  return Agent(NodeLink(std::move(in), std::move(out), false)).run();
}

}  // namespace fairlead::run
