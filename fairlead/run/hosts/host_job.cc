#include "fairlead/run/hosts/host_job.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/exit_text.h"
#include "fairlead/run/hosts/clock_look.h"
#include "fairlead/run/hosts/host_traces.h"
#include "fairlead/run/hosts/node_agent.h"
#include "fairlead/run/hosts/node_link.h"
#include "fairlead/run/hosts/node_messages.h"
#include "fairlead/run/hosts/remote_shell.h"
#include "fairlead/run/job/stage.h"
#include "fairlead/run/machine/probes.h"
#include "fairlead/run/node/node_meeting.h"

namespace fairlead::run {
namespace {

using Clock = NodeLink::Clock;
using std::chrono::milliseconds;

// For all agents to answer.
constexpr milliseconds kStartLimit = std::chrono::seconds(60);
// After the first failure the other nodes end their ranks, which takes them some milliseconds.
constexpr milliseconds kEndLimit{900};
// A shell whose agent has reported, or is given up, goes by itself.
constexpr milliseconds kShellLimit{500};
// Round trips to learn of an agent's clock before the ranks start; one a beat while they run.
constexpr int kClockLooks = 16;
// How many bytes of what a shell says are kept for the error.
constexpr std::size_t kWordsMax = 4096;

struct Host {
  std::string name;
  RankRange ranks;
  RemoteShell shell;
  NodeLink link;
  std::string words;  // of the shell, before the agent spoke
  AgentHello hello;
  ClockLook clock;
  int looks_left = 0;
  std::int64_t clock_asked = 0;  // 0: it was answered
  bool greeted = false;
  std::uint32_t joined = 0;  // ranks that have said where they are
  bool ended = false;        // its ranks have, its NI engine has not
  bool over = false;         // has reported, or is lost
};

std::string ranks_text(const RankRange& ranks) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < ranks.count; ++i) list.push_back(ranks.first + i);
  return rank_list(list);
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

class HostJob {
 public:
  HostJob(const LaunchOptions& options, const ExecPlan& exec) : options_(options), exec_(exec) {
    report_.ranks.resize(options.world.ranks);
  }
  ~HostJob() { end_shells(); }
  HostJob(const HostJob&) = delete;
  HostJob& operator=(const HostJob&) = delete;

  Result<void> start(int signals) {
    if (!options_.world.trace_path.empty()) {
      Result<HostTraces> traces = HostTraces::open(options_.world.trace_path);
      if (!traces.ok()) return traces.error();
      traces_ = std::move(traces.value());
    }
    std::uint32_t first = 0;
    hosts_.reserve(options_.hosts.list.size());
    for (const HostSlots& slots : options_.hosts.list) {
      Host& host = hosts_.emplace_back();
      host.name = slots.name;
      host.ranks = {first, slots.ranks};
      first += slots.ranks;
      Result<std::vector<std::string>> command =
          agent_command(options_.hosts.shell, slots.name, options_.hosts.agent);
      if (!command.ok()) return command.error();
      Result<RemoteShell> shell = start_shell(command.value());
      if (!shell.ok()) return shell.error();
      host.shell = std::move(shell.value());
      host.link = NodeLink(std::move(host.shell.out), std::move(host.shell.in), true);
    }
    const auto until = Clock::now() + kStartLimit;
    while (!std::all_of(hosts_.begin(), hosts_.end(), [](const Host& h) { return h.greeted; })) {
      wait(signals);
      int interrupted = 0;
      take_signals(signals, [&](int number) {
        if (number == SIGINT || number == SIGTERM) interrupted = number;
      });
      if (interrupted != 0) {
        return Error{fmt::format("interrupted by {} before the ranks were started",
                                 signal_text(interrupted))};
      }
      for (Host& host : hosts_) {
        if (Result<void> met = greet(host, Clock::now() > until); !met.ok()) return met;
      }
    }
    return set_up();
  }

  RunReport run(int signals) {
    input_ = DataSource(STDIN_FILENO, 0);
    if (options_.world.timeout < kNever) {
      deadline_ = Clock::now() +
                  milliseconds(options_.world.timeout.count / fairlead::milliseconds(1).count);
    }
    while ((!all_over() && Clock::now() < give_up_) || traces_come()) {
      wait(signals);
      take_signals(signals, [this](int number) {
        for (Host& host : hosts_) {
          host.link.send(NodeKind::signal, 0, number_body(static_cast<std::uint32_t>(number)));
        }
      });
      for (Host& host : hosts_) serve(host);
      move_data();
      check_clock();
    }
    for (Host& host : hosts_) {
      if (!host.over) lose(host, "did not end its ranks in time");
    }
    write_last_output(signals);
    end_traces();
    for (const RankEnd& end : report_.ranks) add_counters(report_.counters, end.counters);
    return std::move(report_);
  }

 private:
  // --- Start-up

  std::string title(const Host& host) const {
    return fmt::format("{} {}", options_.hosts.noun, host.name);
  }

  Result<void> greet(Host& host, bool late) {
    if (host.greeted) return {};
    const Result<std::optional<NodeMessage>> message = host.link.next();
    if (!message.ok()) {
      return Error{fmt::format("{}: {}", title(host), message.error().text)};
    }
    if (message.value().has_value()) {
      if (host.looks_left > 0) return look_at_clock(host, *message.value());
      if (message.value()->kind != NodeKind::hello) {
        return Error{fmt::format("{}: its agent did not greet", title(host))};
      }
      Result<AgentHello> hello = parse_agent_hello(message.value()->body);
      if (!hello.ok()) return Error{fmt::format("{}: {}", title(host), hello.error().text)};
      host.hello = std::move(hello.value());
      if (traces_.wanted()) {
        host.looks_left = kClockLooks;
        ask_clock(host);
      } else {
        host.greeted = true;
      }
      return {};
    }
    if (host.link.open() && !late) return {};
    return Error{unreachable(host, late)};
  }
  // --- The hosts' clocks, where a trace is to show the times of all as one

  static void ask_clock(Host& host) {
    host.clock_asked = monotonic_ns();
    host.link.send(NodeKind::clock, 0, {});
  }
  static bool take_clock(Host& host, const NodeMessage& message) {
    const Result<std::int64_t> there = parse_clock(message.body);
    if (!there.ok() || host.clock_asked == 0) return false;
    host.clock.add(std::exchange(host.clock_asked, 0), monotonic_ns(), there.value());
    return true;
  }
  Result<void> look_at_clock(Host& host, const NodeMessage& message) {
    if (message.kind == NodeKind::beat) return {};
    if (message.kind != NodeKind::clock || !take_clock(host, message)) {
      return Error{fmt::format("{}: its agent did not say what its clock shows", title(host))};
    }
    if (--host.looks_left > 0) {
      ask_clock(host);
    } else {
      host.clock.settle(host.hello.machine == machine_);
      host.greeted = true;
    }
    return {};
  }

  // Why no agent spoke, in the shell's words.
  std::string unreachable(Host& host, bool late) {
    int status = 0;
    std::string how = "no answer within 60 s";
    if (!late) {
      // Its last words are there before its end is.
      for (int i = 0; i < 20 && ::waitpid(host.shell.pid, &status, WNOHANG) == 0; ++i) {
        (void)::poll(nullptr, 0, 10);
      }
      host.shell.pid = 0;
      read_words(host);
      how = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status)) : "killed";
    }
    std::string words = one_line(host.words.empty() ? host.link.skipped() : host.words);
    if (words.empty()) words = "it said nothing";
    const char* const advice =
        WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)
            ? "; Fairlead must have the same path on every host"
            : "";
    return fmt::format("cannot start {} on {}: {} ({}){}", options_.hosts.agent, title(host), words,
                       how, advice);
  }

  Result<void> set_up() {
    AgentSetup setup;
    setup.world = options_.world;
    setup.label = options_.label;
    setup.traced = traces_.wanted();
    const std::int64_t epoch = monotonic_ns();
    if (::getrandom(setup.key.data(), setup.key.size(), 0) !=
        static_cast<ssize_t>(setup.key.size())) {
      return Error{fmt::format("no key for the job: {}", std::strerror(errno))};
    }
    std::error_code error;
    setup.directory = std::filesystem::current_path(error).string();
    if (error) return Error{fmt::format("the working directory: {}", error.message())};
    setup.program = exec_.program;
    setup.working_directory = exec_.working_directory;
    setup.arguments = exec_.arguments;
    setup.environment = travelling(exec_.environment);
    setup.one_network = std::all_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
      return host.hello.network == hosts_[0].hello.network;
    });
    for (Host& host : hosts_) {
      setup.epoch_ns = setup.traced ? std::max<std::int64_t>(epoch + host.clock.ahead(), 0) : 0;
      setup.first = host.ranks.first;
      setup.count = host.ranks.count;
      setup.machine_ranks = setup.machine_first = setup.machine_nodes = setup.machine_node = 0;
      for (const Host& other : hosts_) {
        if (other.hello.machine != host.hello.machine) continue;
        if (&other == &host) {
          setup.machine_first = setup.machine_ranks;
          setup.machine_node = setup.machine_nodes;
        }
        setup.machine_ranks += other.ranks.count;
        ++setup.machine_nodes;
      }
      const std::string body = body_of(setup);
      if (body.size() > kNodeMessageMax / 2) {
        return Error{"the program's arguments and environment are too long to be sent"};
      }
      host.link.send(NodeKind::setup, 0, body);
    }
    return {};
  }
  // What says where a process is does not go to another host.
  static std::vector<std::string> travelling(std::vector<std::string> environment) {
    constexpr std::array kStay = {"SSH_", "HOSTNAME=", "HOST=", "XDG_", "DISPLAY=", "TMUX"};
    std::erase_if(environment, [&](const std::string& entry) {
      return std::any_of(kStay.begin(), kStay.end(),
                         [&](const char* name) { return entry.starts_with(name); });
    });
    return environment;
  }

  // --- Running

  void wait(int signals) {
    std::vector<pollfd> polls;
    if (signals >= 0) polls.push_back({signals, POLLIN, 0});
    for (const Host& host : hosts_) {
      host.link.append_polls(polls);
      if (host.shell.errors.valid()) polls.push_back({host.shell.errors.get(), POLLIN, 0});
    }
    if (input_.hungry() && wants_input()) polls.push_back({input_.fd(), POLLIN, 0});
    for (const Sink& sink : sinks_) {
      if (!sink.turns.empty()) polls.push_back({sink.fd, POLLOUT, 0});
    }
    const auto next = std::min({Clock::now() + milliseconds(kBeatMs), give_up_, deadline_});
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    (void)::poll(polls.data(), polls.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
    for (Host& host : hosts_) {
      host.link.pump();
      read_words(host);
    }
  }
  // A job in the background of a terminal would take lines that are meant for the shell.
  // Rank 0 may be gone before others are.
  bool wants_input() const {
    if (hosts_[0].over) return false;
    return ::isatty(STDIN_FILENO) == 0 || ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  }
  // Before the agent speaks, the shell's words may become an error; afterwards they are passed on.
  static void read_words(Host& host) {
    char bytes[1024];
    while (host.shell.errors.valid()) {
      const ssize_t got = ::read(host.shell.errors.get(), bytes, sizeof bytes);
      if (got < 0) return;
      if (got == 0) return host.shell.errors.reset();
      const auto size = static_cast<std::size_t>(got);
      if (host.greeted) {
        (void)!::write(STDERR_FILENO, bytes, size);
      } else if (host.words.size() < kWordsMax) {
        host.words.append(bytes, size);
      }
    }
  }

  void serve(Host& host) {
    while (!host.over || traces_.wanted()) {
      const Result<std::optional<NodeMessage>> message = host.link.next();
      if (!message.ok()) return lose(host, message.error().text);
      if (!message.value().has_value()) break;
      if (!obey(host, *message.value())) return lose(host, "its agent said what makes no sense");
    }
    if (!host.over && !host.link.open()) lose(host, "its agent ended, or the way to it broke");
  }
  bool is_of(const Host& host, std::uint32_t rank) const {
    return rank - host.ranks.first < host.ranks.count;
  }
  bool obey(Host& host, const NodeMessage& message) {
    switch (message.kind) {
      case NodeKind::address:
        if (!is_of(host, message.rank) || message.body.size() > AddressNote::kCardBytes) {
          return false;
        }
        for (Host& other : hosts_) {
          if (&other != &host) other.link.send(NodeKind::address, message.rank, message.body);
        }
        ++host.joined;
        check_absent();
        return true;
      case NodeKind::data:
        if (message.rank != 1 && message.rank != 2) return false;
        take_output(host, message);
        return true;
      case NodeKind::taken: {
        const Result<std::uint32_t> bytes = parse_number(message.body);
        if (bytes.ok()) input_.taken(bytes.value());
        return bytes.ok();
      }
      case NodeKind::beat:
        return true;
      case NodeKind::clock:
        return take_clock(host, message);
      case NodeKind::trace:
        if (!traces_.wanted() || !host.over || !is_of(host, message.rank)) return false;
        traces_.add(message.rank, message.body);
        return true;
      case NodeKind::ended:
        host.ended = true;
        end_engines();
        return true;
      case NodeKind::report: {
        const Result<AgentReport> report = parse_agent_report(message.body);
        if (!report.ok()) return false;
        return take_report(host, report.value());
      }
      default:
        return false;
    }
  }

  // No rank needs them any more.
  void end_engines() {
    for (const Host& host : hosts_) {
      if (!host.ended && !host.over) return;
    }
    for (Host& host : hosts_) {
      if (!host.over) host.link.send(NodeKind::ended, 0, {});
    }
  }
  bool take_report(Host& host, const AgentReport& report) {
    // A node that could not start has no ranks to tell of.
    if (!report.ranks.empty() && report.ranks.size() != host.ranks.count) return false;
    host.over = true;
    std::copy(report.ranks.begin(), report.ranks.end(), report_.ranks.begin() + host.ranks.first);
    if (!report.failure.empty()) {
      fail(report.exit_code, fmt::format("{} (on {})", report.failure, title(host)));
    }
    check_absent();
    return true;
  }
  // Ranks of a node that is through and that never said where they are have not joined the job;
  // those of other nodes that have wait for them. NI engines speak for their ranks.
  void check_absent() {
    const auto gone = [](const Host& h) { return h.over && h.joined < h.ranks.count; };
    const auto waits = [](const Host& h) { return !h.over && h.joined > 0; };
    const auto absent = std::find_if(hosts_.begin(), hosts_.end(), gone);
    const auto waiting = std::find_if(hosts_.begin(), hosts_.end(), waits);
    if (absent == hosts_.end() || waiting == hosts_.end() || has_engines(options_.world)) return;
    fail(1, fmt::format("{} of the ranks {} ended and never joined the others' job (on {})",
                        absent->ranks.count - absent->joined, ranks_text(absent->ranks),
                        title(*absent)));
  }
  void lose(Host& host, const std::string& why) {
    host.link.close();
    if (std::exchange(host.over, true)) {  // its ranks had ended, and their traces were coming
      if (traces_failed_.empty()) traces_failed_ = fmt::format("{}: {}", title(host), why);
      return;
    }
    for (std::uint32_t i = 0; i < host.ranks.count; ++i) {
      RankEnd& end = report_.ranks[host.ranks.first + i];
      end.exit_code = 1;
      end.reason = "its host was lost";
    }
    fail(1, fmt::format("rank {} lost: {}: {}", ranks_text(host.ranks), title(host), why));
  }
  // The first failure is the job's; every node ends its ranks.
  void fail(int code, const std::string& text) {
    if (!report_.failure.empty()) return;
    report_.failure = text;
    report_.exit_code = code != 0 ? code : 1;
    give_up_ = Clock::now() + kEndLimit;
    const std::string body = body_of(NodeFailure{report_.exit_code, "ended with the job"});
    for (Host& host : hosts_) {
      if (!host.over) host.link.send(NodeKind::abort, 0, body);
    }
  }
  bool all_over() const {
    return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& h) { return h.over; });
  }

  // --- Traces

  // An agent that has reported sends them, and ends.
  bool traces_come(const Host& host) const {
    return traces_.wanted() && host.over && host.link.open();
  }
  bool traces_come() const {
    return std::any_of(hosts_.begin(), hosts_.end(),
                       [this](const Host& host) { return traces_come(host); });
  }
  void end_traces() {
    if (!traces_.wanted()) return;
    for (const Host& host : hosts_) {
      if (host.clock.error() != 0) traces_.say_error(host.ranks, host.clock.error());
    }
    const Result<void> joined = traces_.join(options_.world.ranks);
    if (!traces_failed_.empty()) {
      fmt::print(stderr, "fairlead: the trace is not whole: {}\n", traces_failed_);
    }
    if (joined.ok() || !report_.failure.empty()) return;
    report_.failure = joined.error().text;
    report_.exit_code = 1;
  }

  void check_clock() {
    const auto now = Clock::now();
    if (now >= deadline_) {
      deadline_ = Clock::time_point::max();
      std::string running;
      for (const Host& host : hosts_) {
        if (!host.over) running += " " + host.name;
      }
      fail(kTimeoutExitCode,
           fmt::format("the job outlived its --timeout of {:g} s and was ended; ranks were still "
                       "running on{}",
                       to_seconds(options_.world.timeout), running));
    }
    if (now < beat_at_) return;
    // This process may have been stopped: then nobody was heard, and nobody is to blame.
    const bool late = now - beat_at_ > milliseconds(kBeatMs);
    beat_at_ = now + milliseconds(kBeatMs);
    for (Host& host : hosts_) {
      if (host.over && !traces_come(host)) continue;
      host.link.send(NodeKind::beat, 0, {});
      if (traces_.wanted() && !host.over && host.clock_asked == 0) ask_clock(host);
      if (!late && now - host.link.heard() > milliseconds(kHostSilenceMs)) {
        lose(host, fmt::format("nothing was heard of it for {} s", kHostSilenceMs / 1000));
      }
    }
  }

  // --- Standard streams

  // Whose bytes, in the order they came; each agent is told when its were written.
  struct Turn {
    Host* from;
    std::string bytes;
  };
  struct Sink {
    int fd;
    std::vector<Turn> turns;
  };
  void take_output(Host& host, const NodeMessage& message) {
    sinks_[message.rank - 1].turns.push_back({&host, message.body});
  }
  void write_output() {
    for (std::uint32_t stream = 0; stream < sinks_.size(); ++stream) {
      Sink& sink = sinks_[stream];
      std::size_t done = 0;
      while (done < sink.turns.size()) {
        Turn& turn = sink.turns[done];
        DataSink one(sink.fd, stream + 1);
        one.add(turn.bytes);
        one.pump(turn.from->link);
        turn.bytes = one.take();
        if (one.error() != 0) lose_output(sink, {static_cast<int>(stream), one.error()});
        if (!turn.bytes.empty()) break;
        ++done;
      }
      sink.turns.erase(sink.turns.begin(), sink.turns.begin() + static_cast<std::ptrdiff_t>(done));
    }
  }
  // What comes for it from now on is dropped.
  void lose_output(Sink& sink, const OutputLoss& loss) {
    sink.fd = -1;
    fail(output_exit_code(loss), fmt::format("{}; every rank was ended", output_text(loss)));
  }
  void move_data() {
    if (wants_input()) {
      input_.pass_on(hosts_[0].link);
      if (input_.ended() && !std::exchange(input_told_, true)) {
        hosts_[0].link.send(NodeKind::end, 0, {});
      }
    }
    write_output();
  }
  // As long as the reader takes it, and nobody interrupts.
  void write_last_output(int signals) {
    bool interrupted = false;
    for (write_output(); !sinks_[0].turns.empty() || !sinks_[1].turns.empty(); write_output()) {
      take_signals(signals, [&](int number) {
        if (number != SIGINT && number != SIGTERM) return;
        interrupted = true;
        fail(signal_exit_code(number),
             fmt::format("interrupted by {} while output was left", signal_text(number)));
      });
      if (interrupted) return;
      pollfd polls[] = {{sinks_[0].turns.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0},
                        {sinks_[1].turns.empty() ? -1 : STDERR_FILENO, POLLOUT, 0},
                        {signals, POLLIN, 0}};
      (void)::poll(polls, 3, -1);
    }
  }

  void end_shells() {
    for (Host& host : hosts_) host.link.close();
    const auto until = Clock::now() + kShellLimit;
    for (Host& host : hosts_) {
      while (host.shell.pid > 0 && ::waitpid(host.shell.pid, nullptr, WNOHANG) == 0) {
        if (Clock::now() > until) {
          ::kill(-host.shell.pid, SIGKILL);
          ::kill(host.shell.pid, SIGKILL);
        }
        (void)::poll(nullptr, 0, 1);
      }
    }
  }

  const LaunchOptions& options_;
  const ExecPlan& exec_;
  const std::string machine_ = machine_id();
  HostTraces traces_;
  std::string traces_failed_;  // the first agent whose traces did not all come
  std::vector<Host> hosts_;
  RunReport report_;
  DataSource input_;
  bool input_told_ = false;
  std::array<Sink, 2> sinks_{Sink{STDOUT_FILENO, {}}, Sink{STDERR_FILENO, {}}};
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point give_up_ = Clock::time_point::max();
  Clock::time_point beat_at_ = Clock::now();
};

}  // namespace

Result<RunReport> run_on_hosts(const LaunchOptions& options, const ExecPlan& exec) {
  std::fflush(nullptr);
  survive_broken_pipes();
  const Stage stage;
  const Fd signals = stage.watch_signals(options.forward_signals);
  HostJob job(options, exec);
  if (Result<void> started = job.start(signals.get()); !started.ok()) return started.error();
  return job.run(signals.get());
}

}  // namespace fairlead::run
