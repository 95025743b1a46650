/* Between libfairlead and the preloaded libfairlead_clock: what a rank in virtual time gives it. */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both answer 0 for a thread whose time is real (a child of the rank has its own process). */
struct FairleadClock {
  /* Nanoseconds of virtual time since the rank joined. */
  int (*now)(void* context, int64_t* nanoseconds);
  int (*sleep)(void* context, int64_t nanoseconds);
  void* context;
};

/* Called once, by the thread that is the rank; `clock` stays. */
void fairlead_clock_install(const struct FairleadClock* clock);

#ifdef __cplusplus
}
#endif
