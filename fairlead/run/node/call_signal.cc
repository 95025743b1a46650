#include "fairlead/run/node/call_signal.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/node/rank_call.h"

namespace fairlead::run {

// What it calls allocates nothing and takes no lock.
void print_call(Context& context, std::string_view over) {
  const int error = errno;
  RankCall* const told = context.rank_call();
  char line[400];
  constexpr std::size_t kRoom = sizeof line - 1;
  std::size_t length =
      std::min(kRoom, fmt::format_to_n(line, kRoom, "fairlead: rank {} of {} (process {}): ",
                                       context.port().self(), context.port().size(), ::getpid())
                          .size);
  if (!over.empty()) {
    length += over.copy(line + length, kRoom - length);
  } else if (told != nullptr) {
    const CallFacts facts = told->read();
    // The clock of a modelled rank is the model's, and looking at it costs virtual time.
    length += describe(facts, facts.is_virtual ? 0 : monotonic_ns(), line + length, kRoom - length);
  }
  line[length] = '\n';
  (void)!::write(STDERR_FILENO, line, length + 1);
  errno = error;
}

void answer_call_signal(Context& context) {
  answer_call_signal(context, [](int) {
    if (Context* const mine = current(); mine != nullptr) print_call(*mine, {});
  });
}

void answer_call_signal(Context& context, void (*handler)(int)) {
  if (context.rank_call() == nullptr) return;
  struct sigaction now {};
  if (::sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction prints {};
  prints.sa_handler = handler;
  prints.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &prints, nullptr);
}

}  // namespace fairlead::run
