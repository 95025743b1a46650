#include "fairlead/run/job/job.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fairlead/fabric/lines/line_nic.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/exit_text.h"
#include "fairlead/run/job/engine_process.h"
#include "fairlead/run/job/guardian.h"
#include "fairlead/run/job/reaper.h"
#include "fairlead/run/job/stage.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/rank/trace_parts.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/run/wire/network.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

// The guardian did not finish its work: its children are ours now.
RunReport end_without_guardian(const JobPlan& plan, JobReport& report,
                               std::span<const pid_t> not_of_the_job, pid_t guardian, int status) {
  const std::vector<pid_t> stuck = kill_descendants(not_of_the_job, std::chrono::milliseconds(800));
  remove_endpoints(plan);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const std::string how = signal != 0 ? "was ended by " + signal_text(signal)
                                      : fmt::format("exited with code {}", WEXITSTATUS(status));
  report.set_failure(signal != 0 ? signal_exit_code(signal) : 1,
                     fmt::format("the job's guardian process ({}) {}; every rank was ended{}",
                                 guardian, how, stuck.empty() ? "" : " or is about to be"));
  RunReport read = report.read();
  if (read.exit_code == 0) read.exit_code = 1;
  return read;
}

}  // namespace

void collect_counters(const fabric::ShmJob& job, RunReport& report) {
  for (std::uint32_t rank = 0; rank < report.ranks.size(); ++rank) {
    report.ranks[rank].counters = job.counters(rank);
    add_counters(report.counters, report.ranks[rank].counters);
  }
}

void collect_engine_counters(const fabric::ShmJob& job, const NodeMap& nodes, Peer first, Peer end,
                             RunReport& report) {
  for (Peer node = first; node < end; ++node) {
    const Rank rank = nodes.leader_of(node);
    const PortCounters counters = fabric::engine::queue_area(job, rank).status().counters;
    add_counters(report.ranks[rank].counters, counters);
    add_counters(report.counters, counters);
  }
}

bool GuardianLink::over() {
  if (signals_ >= 0) take_signals(signals_, [this](int number) { signal(number); });
  char byte;
  return ::recv(control_, &byte, sizeof byte, MSG_DONTWAIT | MSG_PEEK) == 0;
}

std::optional<AddressNote> GuardianLink::receive() {
  std::byte bytes[sizeof(AddressNote) + 1];
  for (;;) {
    const ssize_t got = ::recv(control_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) return std::nullopt;
    const auto note = parse_address({bytes, static_cast<std::size_t>(got)});
    if (note.ok()) return note.value();
    if (parse_ended({bytes, static_cast<std::size_t>(got)}).ok()) ranks_ended_ = true;
  }
}

void GuardianLink::all_ended() {
  const auto note = make_message<EndedNote>(0);
  (void)::send(control_, &note, sizeof note, MSG_NOSIGNAL);
}

void GuardianLink::signal(int number) {
  auto note = make_message<SignalNote>(0);
  note.number = number;
  (void)::send(control_, &note, sizeof note, MSG_NOSIGNAL);
}

void GuardianLink::wait() {
  pollfd polls[] = {{control_, POLLIN, 0}, {signals_, POLLIN, 0}};
  (void)::poll(polls, signals_ >= 0 ? 2 : 1, -1);
}

void GuardianLink::await_end() {
  for (;;) {
    while (receive()) {
    }
    if (over()) return;
    wait();
  }
}

void GuardianLink::abort(int code, const std::string& reason) {
  auto note = make_message<AbortNote>(0);
  note.code = code;
  set_text(note.reason, reason);
  (void)::send(control_, &note, sizeof note, MSG_NOSIGNAL);
}

void add_failure(RunReport& report, const Error& error) {
  if (!report.failure.empty()) return;
  report.failure = error.text;
  report.exit_code = 1;
}

Result<RunReport> run_job(JobPlan plan) {
  const std::uint32_t ranks = plan.options.ranks;
  const bool engines = has_engines(plan.options);
  const NodeMap nodes = nodes_of(plan.options);
  const MemoryFile memory = memory_file(plan.options);
  Result<Binding> binding =
      choose_binding(plan.options.bind, ranks, cpu_limits(), engines ? nodes.count() : 0);
  if (!binding.ok()) return binding.error();
  plan.binding = std::move(binding.value());
  Result<std::unique_ptr<fabric::ShmJob>> job = fabric::ShmJob::create(memory_of(plan.options, 0));
  if (!job.ok()) return job.error();
  Result<std::string> parts = make_trace_folder(plan.options.trace_path);
  if (!parts.ok()) return parts.error();
  plan.options.trace_path = parts.value();
  if (is_network(plan.options.on)) {
    Result<std::string> address = own_addresses(plan.options.address);
    if (!address.ok()) return address.error();
    plan.options.address = std::move(address.value());
  }
  plan.ground.world = is_network(plan.options.on)              ? WorldKind::network
                      : memory.path.empty() || memory.software ? WorldKind::shm
                                                               : WorldKind::memory;
  plan.ground.network = plan.options.on == "ofi" ? Network::ofi
                        : memory.software        ? Network::lines
                                                 : Network::udp;
  plan.ground.fd = job.value()->fd();
  plan.ground.nonce = job.value()->nonce();
  plan.ground.epoch = job.value()->epoch();
  if (getrandom(plan.ground.key.data(), plan.ground.key.size(), 0) !=
      static_cast<ssize_t>(plan.ground.key.size())) {
    return Error{fmt::format("no key for the job: {}", std::strerror(errno))};
  }
  // The ranks' until the job is over.
  const Result<Fd> lines =
      memory.software ? fabric::make_line_file(memory.path, ranks, memory_nonce(plan.ground.key))
                      : Result<Fd>(Fd());
  if (!lines.ok()) return lines.error();
  Result<RunReport> ended = run_job_on(std::move(plan));
  const Result<void> joined = join_trace_parts(parts.value(), ranks);
  if (!ended.ok()) return ended;
  if (!joined.ok()) add_failure(ended.value(), joined.error());
  collect_counters(*job.value(), ended.value());
  if (engines) collect_engine_counters(*job.value(), nodes, 0, nodes.count(), ended.value());
  return ended;
}

Result<RunReport> run_job_on(JobPlan plan) {
  const std::uint32_t ranks = plan.options.ranks;
  Result<Board> board = Board::create(ranks);
  if (!board.ok()) return board.error();
  Result<JobReport> report = JobReport::create(ranks);
  if (!report.ok()) return report.error();
  Result<SocketPair> control = socket_pair();
  if (!control.ok()) return control.error();
  ::getrlimit(RLIMIT_NOFILE, &plan.rank_files);
  plan.stdin_is_foreign = ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp();

  const std::vector<pid_t> before = children_of_self();
  const Stage stage;
  plan.rank_signals = stage.mask();
  std::fflush(nullptr);  // or every rank would write what is buffered here
  const pid_t command = ::getpid();
  const pid_t guardian = ::fork();
  if (guardian < 0) {
    return Error{
        fmt::format("cannot start the job (fork): {}; raise ulimit -u", std::strerror(errno))};
  }
  if (guardian == 0) {
    control.value().ours.reset();
    Guardian(plan, board.value(), report.value(), std::move(control.value().theirs), command).run();
    ::_exit(0);
  }
  control.value().theirs.reset();
  const Fd signals = stage.watch_signals(plan.forward_signals);
  GuardianLink link(control.value().ours.get(), signals.get());
  if (plan.watch != nullptr) plan.watch->run(link);
  link.await_end();
  int status = 0;
  while (::waitpid(guardian, &status, 0) < 0 && errno == EINTR) {
  }
  return report.value().is_complete()
             ? report.value().read()
             : end_without_guardian(plan, report.value(), before, guardian, status);
}

}  // namespace fairlead::run
