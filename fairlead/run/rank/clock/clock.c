/* Clocks and sleeps of a rank in virtual time. Until the rank joins its job, and in threads and
 * children that are not it, they are the machine's: system calls, so that this library depends on
 * nothing. CPU time clocks stay real. */
#define _GNU_SOURCE
#include "fairlead/run/rank/clock/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { kClocks = 12 };
static const int64_t kSecond = 1000000000;

static _Atomic(const struct FairleadClock*) rank_clock;
static struct timespec joined[kClocks]; /* what each clock showed when the rank joined */

static int real_gettime(clockid_t id, struct timespec* to) {
  return (int)syscall(SYS_clock_gettime, id, to);
}

static int is_virtual(clockid_t id) {
  return id >= 0 && id < kClocks && id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID;
}

PUBLIC void fairlead_clock_install(const struct FairleadClock* clock) {
  for (clockid_t id = 0; id < kClocks; id++) {
    if (is_virtual(id)) real_gettime(id, &joined[id]);
  }
  atomic_store(&rank_clock, clock);
}

static int virtual_gettime(clockid_t id, struct timespec* to) {
  const struct FairleadClock* clock = atomic_load(&rank_clock);
  int64_t now = 0;
  if (clock == NULL || !is_virtual(id) || !clock->now(clock->context, &now)) return 0;
  now += joined[id].tv_nsec;
  to->tv_sec = joined[id].tv_sec + (time_t)(now / kSecond);
  to->tv_nsec = (long)(now % kSecond);
  return 1;
}

static int virtual_sleep(int64_t nanoseconds) {
  const struct FairleadClock* clock = atomic_load(&rank_clock);
  return clock != NULL && clock->sleep(clock->context, nanoseconds > 0 ? nanoseconds : 0);
}

static int is_length(const struct timespec* time) {
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < kSecond;
}

/* More than the model's 106 days is as good as for ever. */
static int64_t nanoseconds_of(const struct timespec* time) {
  const int64_t longest = 90 * (int64_t)86400;
  return (time->tv_sec > longest ? longest : time->tv_sec) * kSecond + time->tv_nsec;
}

PUBLIC int clock_gettime(clockid_t id, struct timespec* to) {
  return virtual_gettime(id, to) ? 0 : real_gettime(id, to);
}

PUBLIC int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  struct timespec now;
  if (!virtual_gettime(CLOCK_REALTIME, &now)) {
    return (int)syscall(SYS_gettimeofday, to, zone);
  }
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

PUBLIC time_t time(time_t* to) {
  struct timespec now;
  if (!virtual_gettime(CLOCK_REALTIME, &now)) real_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

/* A thread can be cancelled in its sleep, as in the machine's own functions. */
static int real_sleep(clockid_t id, int flags, const struct timespec* until,
                      struct timespec* left) {
  int before;
  pthread_testcancel();
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  const int error = syscall(SYS_clock_nanosleep, id, flags, until, left) == 0 ? 0 : errno;
  pthread_setcanceltype(before, &before);
  return error;
}

PUBLIC int nanosleep(const struct timespec* length, struct timespec* left) {
  if (is_length(length) && virtual_sleep(nanoseconds_of(length))) return 0;
  const int error = real_sleep(CLOCK_MONOTONIC, 0, length, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

PUBLIC int clock_nanosleep(clockid_t id, int flags, const struct timespec* until,
                           struct timespec* left) {
  if (is_virtual(id) && is_length(until)) {
    int64_t length = nanoseconds_of(until);
    struct timespec now;
    if ((flags & TIMER_ABSTIME) != 0 && virtual_gettime(id, &now)) {
      length = (until->tv_sec - now.tv_sec) * kSecond + (until->tv_nsec - now.tv_nsec);
    }
    if (virtual_sleep(length)) return 0;
  }
  return real_sleep(id, flags, until, left);
}

PUBLIC int usleep(useconds_t microseconds) {
  const struct timespec length = {(time_t)(microseconds / 1000000),
                                  (long)(microseconds % 1000000) * 1000};
  return nanosleep(&length, NULL);
}

PUBLIC unsigned sleep(unsigned whole) {
  const struct timespec length = {(time_t)whole, 0};
  struct timespec left = {0, 0};
  return nanosleep(&length, &left) == 0 ? 0 : (unsigned)left.tv_sec + (left.tv_nsec > 0);
}
