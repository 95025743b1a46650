#include "fairlead/systems/mpi/call_signal.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/node/rank_call.h"

namespace fairlead::mpi {
namespace {

const Comm* group_of(void* process, std::uint32_t context) {
  return static_cast<const Process*>(process)->find_context(context);
}

// What it calls allocates nothing and takes no lock.
void print_call(int) {
  const int error = errno;
  if (Process* const process = Process::current(); process != nullptr) {
    run::RankCall* const told = process->context().rank_call();
    char line[400];
    constexpr std::size_t kRoom = sizeof line - 1;
    std::size_t length =
        std::min(kRoom, fmt::format_to_n(line, kRoom, "fairlead: rank {} of {} (process {}): ",
                                         process->world().rank, process->world().size, ::getpid())
                            .size);
    if (process->phase == Process::Phase::finalized) {
      length += std::string_view("has called MPI_Finalize").copy(line + length, kRoom - length);
    } else if (told != nullptr) {
      const run::CallFacts facts = told->read();
      // The clock of a modelled rank is the model's, and looking at it costs virtual time.
      length += run::describe(facts, facts.is_virtual ? 0 : monotonic_ns(), line + length,
                              kRoom - length);
    }
    line[length] = '\n';
    (void)!::write(STDERR_FILENO, line, length + 1);
  }
  errno = error;
}

}  // namespace

void tell_waits(Process& process) {
  run::RankCall* const call = process.context().rank_call();
  if (call == nullptr) return;
  process.engine().tell_waits({call, &group_of, &process});
  struct sigaction now {};
  if (::sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction prints {};
  prints.sa_handler = &print_call;
  prints.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &prints, nullptr);
}

}  // namespace fairlead::mpi
