#include "fairlead/run/job/rank_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>

#include "fairlead/run/node/process_end.h"
#include "fairlead/run/rank/rank_context.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

constexpr int kNotStarted = 127;  // as shells have it

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{fmt::format("cannot make a pipe: {}; raise ulimit -n", std::strerror(errno))};
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

void set_streams(const JobPlan& plan, std::uint32_t rank, const std::array<Pipe, 2>& output) {
  if (rank != 0 || plan.stdin_is_foreign) {
    const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ::dup2(null.get(), STDIN_FILENO);
  }
  if (plan.label) {
    ::dup2(output[0].write.get(), STDOUT_FILENO);
    ::dup2(output[1].write.get(), STDERR_FILENO);
  }
}

void restore_signals(const JobPlan& plan) {
  // Ignored signals (a shell's background jobs ignore SIGINT) would survive exec and swallow what
  // the command forwards.
  if (plan.forward_signals) {
    for (const int signal : kForwardedSignals) ::signal(signal, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &plan.rank_signals, nullptr);
}

// The guardian raised its own: programs that use select() rely on a small one.
void restore_file_limit(const JobPlan& plan) { ::setrlimit(RLIMIT_NOFILE, &plan.rank_files); }

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const std::string& one : strings) list.push_back(const_cast<char*>(one.c_str()));
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void exec_program(const RankStart& start, int bootstrap, ino_t inode) {
  const ExecPlan& exec = *start.plan.exec;
  std::vector<std::string> environment = exec.environment;
  environment.push_back(
      fmt::format("{}={}", kBootstrapVariable, bootstrap_text({bootstrap, inode, start.rank})));
  environment.push_back(fmt::format("{}={}", kRankVariable, start.rank));
  environment.push_back(fmt::format("{}={}", kRanksVariable, start.plan.options.ranks));
  const std::vector<char*> argv = pointers(exec.arguments);
  const std::vector<char*> envp = pointers(environment);
  ::fcntl(bootstrap, F_SETFD, 0);
  restore_signals(start.plan);
  if (exec.working_directory.empty() || ::chdir(exec.working_directory.c_str()) == 0) {
    ::execve(exec.program.c_str(), argv.data(), envp.data());
  }
  start.board.slot(start.rank).start_errno.store(errno, std::memory_order_release);
  ::_exit(kNotStarted);
}

int guarded_body(const RankStart& start, Context& context) {
  BoardSlot& slot = start.board.slot(start.rank);
  try {
    return (*start.plan.body)(context);
  } catch (const std::exception& failure) {
    set_text(slot.reason, fmt::format("uncaught exception: {}", failure.what()));
  } catch (...) {
    set_text(slot.reason, "uncaught exception of an unknown type");
  }
  return 1;
}

[[noreturn]] void run_body(const RankStart& start, const Welcome& welcome, Fd life) {
  Fd bell(start.bell >= 0 ? ::fcntl(start.bell, F_DUPFD_CLOEXEC, 0) : -1);
  start.close_inherited();
  restore_signals(start.plan);
  BoardSlot& slot = start.board.slot(start.rank);
  const auto fail = [&](const std::string& reason) {
    set_text(slot.reason, reason);
    ::_exit(1);
  };
  Result<Board> board =
      Board::attach(Fd(::fcntl(start.board.fd(), F_DUPFD_CLOEXEC, 0)), welcome.ranks);
  if (!board.ok()) fail(board.error().text);
  Result<std::unique_ptr<RankContext>> context =
      RankContext::join(welcome, start.plan.ground.fd, std::move(board.value()), std::move(life),
                        nullptr, std::move(bell));
  if (!context.ok()) fail(context.error().text);
  set_current(context.value().get());
  set_check_context(&context.value()->check());
  const int code = guarded_body(start, *context.value());
  if (code == 0) context.value()->linger();
  set_current(nullptr);
  set_check_context(nullptr);
  context.value().reset();
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace

Result<RankProcess> start_rank(const RankStart& start) {
  const JobPlan& plan = start.plan;
  Result<SocketPair> bootstrap = socket_pair();
  if (!bootstrap.ok()) return bootstrap.error();
  Result<SocketPair> life = socket_pair();
  if (!life.ok()) return life.error();
  const Result<ino_t> inode = socket_inode(bootstrap.value().theirs.get());
  if (!inode.ok()) return inode.error();
  std::array<Pipe, 2> output;
  for (Pipe& pipe : output) {
    if (!plan.label) break;
    Result<Pipe> made = make_pipe();
    if (!made.ok()) return made.error();
    pipe = std::move(made.value());
  }
  const Welcome welcome = make_welcome(plan.options, plan.ground, plan.binding.wait, start.rank);
  const std::array descriptors{start.plan.ground.fd, start.board.fd(), life.value().theirs.get(),
                               start.bell};
  const Result<void> sent =
      send_welcome(bootstrap.value().ours.get(), welcome,
                   std::span(descriptors).first(start.bell >= 0 ? 4 : Welcome::kDescriptors));
  if (!sent.ok()) return sent.error();

  const pid_t guardian = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error{fmt::format("cannot start rank {}: {}; try fewer ranks, or raise ulimit -u",
                             start.rank, std::strerror(errno))};
  }
  if (pid == 0) {
    die_with(guardian);
    ::setpgid(0, 0);
    if (!plan.binding.processors.empty()) {
      bind_to(plan.binding.processors[start.rank - plan.here().first]);
    };
    set_streams(plan, start.rank, output);
    restore_file_limit(plan);
    if (plan.exec == nullptr) run_body(start, welcome, std::move(life.value().theirs));
    exec_program(start, bootstrap.value().theirs.get(), inode.value());
  }
  ::setpgid(pid, pid);  // here too: a signal may be forwarded before the rank has run
  RankProcess process;
  process.pid = pid;
  process.life = std::move(life.value().ours);
  process.output = std::move(output[0].read);
  process.errors = std::move(output[1].read);
  return process;
}

}  // namespace fairlead::run
