/* PE 0 waits for a word that PE 1 puts by looking at it and at a clock alone, as programs do that
 * wait for a limited time; also where time is virtual. Exit code 0: it was seen. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fairlead/systems/shmem/shmem.h"

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int words[2];

int main(void) {
  const double limit_ms = 10000;
  int status = 0;
  shmem_init();
  const int me = shmem_my_pe();
  /* The first access asks PE 0's library where its memory is. */
  if (me == 1) shmem_int_p(&words[1], 1, 0);
  shmem_barrier_all();
  if (me == 1) {
    usleep(300);
    shmem_int_p(&words[0], 7, 0);
    shmem_quiet();
  }
  if (me == 0) {
    const volatile int* const word = &words[0];
    const double began_ms = now_ms();
    double waited_ms = 0;
    while (*word == 0 && waited_ms < limit_ms) waited_ms = now_ms() - began_ms;
    /* Expect: long before the limit */
    status = *word == 7 && waited_ms < limit_ms / 10 ? 0 : 1;
    if (status != 0) printf("%d after %f ms\n", *word, waited_ms);
  }
  shmem_barrier_all();
  shmem_finalize();
  return status;
}
