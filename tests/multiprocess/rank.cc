// A rank that behaves, or misbehaves, as its arguments say.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fairlead/run/context.h"
#include "fairlead/run/launch/attach.h"

namespace {

using namespace fairlead;

run::Context& join() {
  const Result<run::Context*> context = run::attach();
  if (!context.ok()) {
    fmt::print(stderr, "{}\n", context.error().text);
    std::exit(9);
  }
  return *context.value();
}

Keep count_arrival(void* count, lci::Packet*, const lci::Arrival&) {
  ++*static_cast<std::uint64_t*>(count);
  return Keep::no;
}

// A child in this process group and a grandchild in a session of its own: neither may outlive the
// job.
void start_children() {
  if (::fork() != 0) return;
  if (::fork() == 0) ::setsid();
  for (;;) ::pause();
}

// Packets to every other rank for `us`, then an orderly end.
int exchange(long us) {
  run::Context& context = join();
  lci::Port& port = context.port();
  context.began(run::System::mpi);
  std::uint64_t arrived = 0;
  port.bind(1, {count_arrival, &arrived}, {});
  const Ps end = port.now() + microseconds(us);
  const lci::Words words{};
  while (port.now() < end) {
    for (Rank peer = 0; peer < port.size(); ++peer) {
      if (peer == port.self()) continue;
      (void)port.send_small({peer}, 1, lci::Lane::request, words, {}, lci::kNoBlock);
    }
    port.poll();
    ::sched_yield();
  }
  context.ended(run::System::mpi);
  return 0;
}

volatile sig_atomic_t caught = 0;
void catch_signal(int signal) { caught = signal; }

// Says "ready", then names each signal that arrives; ends at SIGUSR2.
int name_signals() {
  run::Context& context = join();
  struct sigaction action {};
  action.sa_handler = catch_signal;
  for (const int signal : {SIGUSR1, SIGUSR2, SIGCONT, SIGINT}) {
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  fmt::print("ready {} pid {}\n", context.port().self(), ::getpid());
  std::fflush(stdout);
  while (caught != SIGUSR2) {
    caught = 0;
    ::sigsuspend(&before);
    fmt::print("rank {} got {}\n", context.port().self(), ::sigabbrev_np(caught));
    std::fflush(stdout);
  }
  return 0;
}

int copy_input() {
  run::Context& context = join();
  for (int c = 0; (c = std::getchar()) != EOF;) std::putchar(c);
  fmt::print("rank {} saw the end\n", context.port().self());
  return 0;
}

int show() {
  run::Context& context = join();
  cpu_set_t mask;
  ::sched_getaffinity(0, sizeof mask, &mask);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  char* directory = ::getcwd(nullptr, 0);
  const char* variable = std::getenv("FAIRLEAD_TEST_VALUE");
  fmt::print("rank {} of {} value {} in {} processors {} files {}\n", context.port().self(),
             context.port().size(), variable == nullptr ? "unset" : variable, directory,
             CPU_COUNT(&mask), files.rlim_cur);
  std::free(directory);
  return 0;
}

// Joins, then tries again in a child that was forked and in one that was also executed.
int join_twice(const char* self) {
  run::Context& context = join();
  if (run::attach().value() != &context) return 1;
  for (const bool execute : {false, true}) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      if (execute) ::execl(self, self, "show", nullptr);
      join();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    fmt::print("child of rank {}: {}\n", context.port().self(), WEXITSTATUS(status));
  }
  return 0;
}

int misbehave(const std::string& how, Rank who, int number) {
  run::Context& context = join();
  context.began(run::System::mpi);
  if (context.port().self() != who) {
    for (;;) ::pause();
  }
  if (how == "exit") std::exit(number);
  if (how == "raise") ::raise(number);  // as the program's libraries left it
  if (how == "signal") {
    ::signal(number, SIG_DFL);  // sanitizers catch what ends a program
    ::raise(number);
  }
  if (how == "abort") context.abort_job(number, "the matrix is singular");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "show";
  const auto number = [&](int i) { return argc > i ? std::strtol(argv[i], nullptr, 10) : 0L; };
  if (what == "show") return show();
  if (what == "exchange") return exchange(number(2));
  if (what == "parent") {
    start_children();
    return exchange(number(2));
  }
  if (what == "signals") return name_signals();
  if (what == "copy") return copy_input();
  if (what == "twice") return join_twice(argv[0]);
  if (what == "leave") return static_cast<int>(number(2));  // without joining
  return misbehave(what, static_cast<Rank>(number(2)), static_cast<int>(number(3)));
}
