#include "fairlead/run/job/guardian.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/exit_text.h"
#include "fairlead/run/job/job_watch.h"
#include "fairlead/run/job/reaper.h"
#include "fairlead/run/node/rank_call.h"
#include "fairlead/run/rank/trace_parts.h"
#include "fairlead/run/run_report.h"
#include "fairlead/run/wire/bootstrap_messages.h"
#include "fairlead/run/wire/network.h"

namespace fairlead::run {
namespace {

using std::chrono::milliseconds;

// A job is gone within a second of its first failure; what is left of it goes to exiting.
constexpr milliseconds kEndLimit{700};
constexpr milliseconds kDrainLimit{150};
// After an orderly exit with a code, the others may still say what they found before they go.
constexpr milliseconds kGrace{200};
// A process closes its sockets a little before it can be waited for.
constexpr milliseconds kLostPatience{100};
// How often the guardian looks whether somebody has joined a job that others left without joining:
// joining tells it nothing.
constexpr milliseconds kAbsentLook{100};

void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

Guardian::Guardian(const JobPlan& plan, Board& board, JobReport& report, Fd control, pid_t command)
    : plan_(plan),
      board_(board),
      report_(report),
      control_(std::move(control)),
      command_(command),
      relay_({STDOUT_FILENO, STDERR_FILENO}),
      deadline_(Clock::time_point::max()) {
  if (plan.options.timeout < kNever) {
    deadline_ =
        Clock::now() + milliseconds(plan.options.timeout.count / fairlead::milliseconds(1).count);
  }
}

void Guardian::run() {
  const bool settled = settle();
  if (settled) {
    if (plan_.watch != nullptr) plan_.watch->guardian_begins();
    if (start_engines()) start_ranks();
    serve();
    end_all();
  }
  if (!settled || orphaned_) {
    // The command would have; nothing is to be left. Of several hosts nobody can join the parts.
    if (plan_.options.several_nodes) {
      drop_trace_parts(plan_.options.trace_path);
    } else {
      (void)join_trace_parts(plan_.options.trace_path, plan_.options.ranks);
    }
    return;
  }
  relay_.drain(report_.failed() ? kDrainLimit : milliseconds(-1));
  if (relay_.loss()) fail_output();
  report_.complete();
}

bool Guardian::settle() {
  ::setsid();
  ::prctl(PR_SET_NAME, "fairlead-guard");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Blocked already, so the signal cannot be missed; and if the command went before prctl took
  // effect, this process has another parent by now.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != command_) return false;
  raise_file_limit();
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGTERM);
  signals_ = Fd(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  if (signals_.valid()) return true;
  report_.set_failure(1, fmt::format("cannot watch the ranks (signalfd): {}; raise ulimit -n",
                                     std::strerror(errno)));
  report_.complete();
  return false;
}

bool Guardian::start_engines() {
  if (!has_engines(plan_.options)) return true;
  const std::function<void()> close_inherited = [this] { this->close_inherited(); };
  const NodeMap nodes = nodes_of(plan_.options);
  const RankRange here = plan_.here();
  for (Peer node = nodes.node_of(here.first); node <= nodes.node_of(here.first + here.count - 1);
       ++node) {
    Result<EngineProcess> started = start_engine(plan_, node, close_inherited);
    if (!started.ok()) {
      fail(1, started.error().text, milliseconds(0));
      return false;
    }
    engines_.push_back(std::move(started.value()));
  }
  return true;
}

void Guardian::start_ranks() {
  const std::function<void()> close_inherited = [this] { this->close_inherited(); };
  const RankRange here = plan_.here();
  const NodeMap nodes = nodes_of(plan_.options);
  wards_.reserve(here.count);
  for (std::uint32_t rank = here.first; rank < here.first + here.count; ++rank) {
    const int bell = engines_.empty()
                         ? -1
                         : engines_[nodes.node_of(rank) - nodes.node_of(here.first)].bell.get();
    Result<RankProcess> started = start_rank({plan_, board_, rank, bell, close_inherited});
    if (!started.ok()) return fail(1, started.error().text, milliseconds(0));
    Ward& ward = wards_.emplace_back();
    ward.rank = rank;
    ward.process = std::move(started.value());
    ++running_;
    if (plan_.label) {
      relay_.add(rank, 0, std::move(ward.process.output));
      relay_.add(rank, 1, std::move(ward.process.errors));
    }
    if (::getppid() != command_) return;
  }
}

void Guardian::close_inherited() {
  control_.reset();
  signals_.reset();
  wards_.clear();
  engines_.clear();
  relay_ = OutputRelay({STDOUT_FILENO, STDERR_FILENO});
}

bool Guardian::over() const {
  return orphaned_ || (all_reaped() && !serves_others()) ||
         (kill_at_.has_value() && Clock::now() >= *kill_at_);
}

bool Guardian::serves_others() const {
  return all_reaped() && !engines_.empty() && plan_.ground.here.count != 0 && !all_ended_ &&
         !report_.failed();
}

void Guardian::tell_end() {
  end_told_ = true;
  const auto note = make_message<EndedNote>(0);
  (void)::send(control_.get(), &note, sizeof note, MSG_NOSIGNAL);
}

void Guardian::serve() {
  while (!over()) {
    if (serves_others() && !end_told_) tell_end();
    wait_for_events();
    read_signals();
    reap();
    read_control();
    for (Ward& ward : wards_) read_life(ward);
    for (EngineProcess& engine : engines_) read_engine(engine);
    relay_.pump();
    if (relay_.loss()) fail_output();
    check_deadlines();
  }
}

int Guardian::wait_ms() const {
  Clock::time_point next = deadline_;
  if (kill_at_.has_value()) next = std::min(next, *kill_at_);
  for (const Ward& ward : wards_) {
    if (ward.lost_at.has_value()) next = std::min(next, *ward.lost_at + kLostPatience);
    if (ward.absent) next = std::min(next, Clock::now() + kAbsentLook);
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void Guardian::wait_for_events() {
  std::vector<pollfd> polls{{signals_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}};
  for (const Ward& ward : wards_) {
    if (ward.process.life.valid()) polls.push_back({ward.process.life.get(), POLLIN, 0});
  }
  for (const EngineProcess& engine : engines_) {
    if (engine.life.valid()) polls.push_back({engine.life.get(), POLLIN, 0});
  }
  relay_.append_polls(polls);
  (void)::poll(polls.data(), polls.size(), wait_ms());
}

void Guardian::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGTERM) continue;
    if (::getppid() != command_) {
      orphaned_ = true;
    } else {
      fail(signal_exit_code(SIGTERM),
           "the job's guardian process was told to end by SIGTERM; every rank was ended",
           milliseconds(0));
    }
  }
}

void Guardian::read_control() {
  std::byte bytes[sizeof(AbortNote) + 1];
  for (;;) {
    const ssize_t got = ::recv(control_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got == 0) orphaned_ = true;  // the command closed its end by ending
    if (got <= 0) return;
    obey({bytes, static_cast<std::size_t>(got)});
  }
}

void Guardian::obey(std::span<const std::byte> message) {
  if (const Result<SignalNote> note = parse_signal(message); note.ok()) {
    return forward(note.value().number);
  }
  if (parse_ended(message).ok()) {
    all_ended_ = true;
    return;
  }
  const Result<AbortNote> note = parse_abort(message);
  if (!note.ok()) return;
  fail(note.value().code != 0 ? note.value().code : 1,
       std::string(get_text(note.value().reason, "the reason").value()), milliseconds(0));
}

void Guardian::forward(int signal) {
  if (signal == SIGINT || signal == SIGTERM) ++interrupts_;
  if (interrupts_ >= 2) {
    return fail(signal_exit_code(signal),
                fmt::format("interrupted twice ({}): every rank was killed", signal_text(signal)),
                milliseconds(0));
  }
  for (const Ward& ward : wards_) {
    if (!ward.reaped) ::kill(-ward.process.pid, signal);
  }
}

void Guardian::read_life(Ward& ward) {
  std::byte bytes[sizeof(AbortNote) + 1];
  while (ward.process.life.valid()) {
    const ssize_t got = ::recv(ward.process.life.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0) return;
    if (got > 0) {
      hear(ward, {bytes, static_cast<std::size_t>(got)});
      continue;
    }
    ward.process.life.reset();
    if (!ward.reaped) ward.lost_at = Clock::now();
  }
}

void Guardian::hear(const Ward& ward, std::span<const std::byte> message) {
  if (const auto address = parse_address(message); address.ok()) {
    if (address.value().head.rank != ward.rank || plan_.ground.here.count == 0) return;
    (void)::send(control_.get(), message.data(), message.size(), MSG_NOSIGNAL);
    return;
  }
  const Result<AbortNote> note = parse_abort(message);
  if (!note.ok()) return;
  // A job that was told to stop never looks like a success, whatever the code.
  const int code = (note.value().code & 0xff) != 0 ? note.value().code & 0xff : 1;
  fail(code,
       fmt::format("rank {} ended the job: {}", ward.rank,
                   get_text(note.value().reason, "the reason").value()),
       milliseconds(0));
}

// What ranks wait in, where one of them waits; those of systems that do not tell say nothing.
std::string Guardian::waits_of_running() const {
  std::string all;
  bool waits = false;
  for (const Ward& ward : wards_) {
    const RankCall& call = board_.slot(ward.rank).call;
    if (ward.reaped || call.pid() == 0) continue;
    const CallFacts facts = call.read();
    waits = waits || facts.kind != CallFacts::Kind::none;
    char text[160];
    const std::size_t length = describe(facts, monotonic_ns(), text, sizeof text);
    all += fmt::format(". Rank {}: {}", ward.rank, std::string_view(text, length));
  }
  return waits ? all : "";
}

void Guardian::check_deadlines() {
  const Clock::time_point now = Clock::now();
  if (now >= deadline_ && !report_.failed()) {
    std::string running;
    int named = 0;
    for (const Ward& ward : wards_) {
      if (!ward.reaped && ++named <= 8) running += fmt::format(" {}", ward.rank);
    }
    running += running_ > 8 ? " ..." : waits_of_running();
    fail(kTimeoutExitCode,
         fmt::format("the job outlived its --timeout of {:g} s and was ended; {} of {} ranks were "
                     "still running:{}",
                     to_seconds(plan_.options.timeout), running_, wards_.size(), running),
         milliseconds(0));
  }
  for (Ward& ward : wards_) {
    if (!ward.lost_at.has_value() || now < *ward.lost_at + kLostPatience) continue;
    ward.lost_at.reset();
    if (const char* call = missing_end(board_.slot(ward.rank)); call != nullptr && !ward.reaped) {
      fail(1,
           fmt::format("rank {}: its program ended without {} (the process that started it, {}, "
                       "still runs)",
                       ward.rank, call, ward.process.pid),
           milliseconds(0));
    }
  }
  check_absent();
}

void Guardian::check_absent() {
  const auto absent = std::find_if(wards_.begin(), wards_.end(), [&](const Ward& ward) {
    return ward.absent && board_.slot(ward.rank).attached.load(std::memory_order_acquire) == 0;
  });
  if (absent == wards_.end() || report_.failed()) return;
  const auto waiting = std::find_if(wards_.begin(), wards_.end(), [&](const Ward& ward) {
    return !ward.reaped && missing_end(board_.slot(ward.rank)) != nullptr;
  });
  if (waiting == wards_.end()) return;
  fail(1,
       fmt::format("rank {} (process {}) exited with code 0 and never joined the job, as rank {} "
                   "did; {} needs all ranks",
                   absent->rank, absent->process.pid, waiting->rank,
                   missing_end(board_.slot(waiting->rank))),
       milliseconds(0));
}

void Guardian::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto ward = std::find_if(wards_.begin(), wards_.end(), [pid](const Ward& w) {
      return w.process.pid == pid && !w.reaped;
    });
    if (ward != wards_.end()) {
      rank_ended(*ward, status);
      continue;
    }
    // Any other process is an orphan of a rank.
    const auto engine = std::find_if(engines_.begin(), engines_.end(),
                                     [pid](const EngineProcess& one) { return one.pid == pid; });
    if (engine != engines_.end()) engine_ended(*engine, status);
  }
}

void Guardian::read_engine(EngineProcess& engine) {
  if (!engine.life.valid()) return;
  std::byte bytes[sizeof(AbortNote) + 1];
  const ssize_t got = ::recv(engine.life.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0) return;
  if (got == 0) return engine.life.reset();
  const std::span<const std::byte> message{bytes, static_cast<std::size_t>(got)};
  if (parse_address(message).ok()) {
    (void)::send(control_.get(), message.data(), message.size(), MSG_NOSIGNAL);
    return;
  }
  const Result<AbortNote> note = parse_abort(message);
  if (!note.ok()) return;
  fail(1, std::string(get_text(note.value().reason, "the reason").value()), milliseconds(0));
}

// Its ranks cannot go on: what the engine had of them is lost. They learn it too, and may say what
// they were waiting for.
void Guardian::engine_ended(EngineProcess& engine, int status) {
  read_engine(engine);  // it may have said why
  const pid_t pid = std::exchange(engine.pid, 0);
  if (all_reaped() && !serves_others()) return;
  const NodeMap nodes = nodes_of(plan_.options);
  const Peer node =
      nodes.node_of(plan_.here().first) + static_cast<Peer>(&engine - engines_.data());
  if (auto job = fabric::ShmJob::open(plan_.ground.fd, plan_.ground.nonce); job.ok()) {
    fabric::engine::mark_engine_gone(*job.value(), nodes, node);
  }
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was ended by {}", signal_text(WTERMSIG(status)))
                              : fmt::format("exited with code {}", WEXITSTATUS(status));
  fail(
      WIFSIGNALED(status) ? signal_exit_code(WTERMSIG(status)) : 1,
      fmt::format("the NI engine of node {} (process {}) {}; every rank was ended", node, pid, how),
      kGrace);
}

void Guardian::rank_ended(Ward& ward, int status) {
  ward.reaped = true;
  ward.lost_at.reset();
  --running_;
  read_life(ward);  // an abort note may have come just before
  ward.absent = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                board_.slot(ward.rank).attached.load(std::memory_order_acquire) == 0;
  judge_end(ward, status);
  if (plan_.watch != nullptr) plan_.watch->rank_ended(ward.rank);
}

void Guardian::judge_end(const Ward& ward, int status) {
  const std::uint32_t rank = ward.rank;
  const BoardSlot& slot = board_.slot(rank);
  const pid_t pid = ward.process.pid;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    std::string text =
        fmt::format("rank {} (process {}) was ended by {}", rank, pid, signal_text(signal));
    if (report_.failed()) text = "ended with the job";
    report_.set_end(rank, signal_exit_code(signal), signal, text);
    if (const std::string advice = signal_advice(signal); !advice.empty()) text += "; " + advice;
    return fail(signal_exit_code(signal), text, milliseconds(0));
  }
  const int code = WEXITSTATUS(status);
  const char* call = missing_end(slot);
  if (code == 0 && call == nullptr) return report_.set_end(rank, 0, 0, "");
  std::string text = fmt::format("rank {} (process {}) exited with code {}", rank, pid, code);
  if (const int why = slot.start_errno.load(std::memory_order_acquire); why != 0) {
    text =
        fmt::format("rank {} could not run {}: {}", rank, plan_.exec->program, std::strerror(why));
  } else if (const auto reason = get_text(slot.reason, "reason");
             reason.ok() && !reason.value().empty()) {
    text += fmt::format(": {}", reason.value());
  } else if (call != nullptr) {
    text += fmt::format(" without {}", call);
  }
  report_.set_end(rank, code, 0, text);
  fail(code != 0 ? code : 1, text, call != nullptr ? milliseconds(0) : kGrace);
}

void Guardian::fail(int exit_code, const std::string& text, milliseconds grace) {
  report_.set_failure(exit_code, text);
  const Clock::time_point at = Clock::now() + grace;
  if (!kill_at_.has_value() || at < *kill_at_) kill_at_ = at;
}

void Guardian::fail_output() {
  fail(output_exit_code(*relay_.loss()),
       fmt::format("{}; every rank was ended", output_text(*relay_.loss())), milliseconds(0));
}

void Guardian::end_all() {
  const Clock::time_point give_up = Clock::now() + kEndLimit;
  const RankRange here = plan_.here();
  for (auto i = static_cast<std::uint32_t>(wards_.size()); i < here.count; ++i) {
    report_.set_end(here.first + i, 1, 0, "was not started");
  }
  for (const Ward& ward : wards_) {
    if (!ward.reaped) ::kill(-ward.process.pid, SIGKILL);
  }
  for (const EngineProcess& engine : engines_) {
    if (engine.pid > 0) ::kill(engine.pid, SIGKILL);
  }
  constexpr timespec kPause{0, 200'000};
  for (reap(); !all_reaped() && Clock::now() < give_up; reap()) {
    for (const Ward& ward : wards_) {
      if (!ward.reaped) ::kill(ward.process.pid, SIGKILL);
    }
    ::nanosleep(&kPause, nullptr);
  }
  const auto left = std::chrono::ceil<milliseconds>(give_up - Clock::now());
  const std::vector<pid_t> stuck = kill_descendants({}, std::max(left, milliseconds(50)));
  remove_endpoints(plan_);
  if (!stuck.empty() && report_.failed()) {
    report_.add_to_failure(fmt::format("; process {} could not be ended yet", stuck.front()));
  }
}

void remove_endpoints(const JobPlan& plan) {
  if (plan.ground.network != Network::ofi) return;
  const RankRange here = plan.here();
  for (std::uint32_t i = 0; i < here.count; ++i) {
    remove_endpoint(plan.ground.nonce, here.first + i);
  }
}

}  // namespace fairlead::run
