/* A first program on shared pages: every rank adds to one counter under a lock, with plain loads
 * and stores, and rank 0 prints it. */
#include <stdio.h>

#include "fairlead/systems/dsm/tmk.h"

static long* counter;

int main(int argc, char** argv) {
  Tmk_startup(argc, argv);
  if (Tmk_proc_id == 0) {
    counter = (long*)Tmk_malloc(sizeof(long));
    Tmk_distribute(&counter, sizeof counter);
  }
  Tmk_barrier(0);
  for (int i = 0; i < 100; ++i) {
    Tmk_lock_acquire(0);
    *counter += 1;
    Tmk_lock_release(0);
  }
  Tmk_barrier(1);
  if (Tmk_proc_id == 0) printf("%u ranks counted to %ld\n", Tmk_nprocs, *counter);
  Tmk_exit(0);
}
