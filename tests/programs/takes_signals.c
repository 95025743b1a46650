/* A library that takes signals while it is loaded, as one of those does that libfabric brings. One
 * comes while it does so. */
#include <signal.h>

volatile int takes_signals_caught;
static void taken(int number) { takes_signals_caught = number; }

int caught(void) { return takes_signals_caught; }

__attribute__((constructor)) static void take(void) {
  static const int kTaken[] = {SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM, SIGUSR1};
  for (unsigned i = 0; i < sizeof kTaken / sizeof kTaken[0]; ++i) signal(kTaken[i], taken);
  raise(SIGUSR1);
}
