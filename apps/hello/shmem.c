/* A first OpenSHMEM program: every PE puts its number into its right neighbour's memory, adds to a
 * sum at PE 0, and PE 0 prints both after a barrier. */
#include <stdio.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/shmem/shmem.h"

FAIRLEAD_FIBER_PROGRAM;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  long* given = shmem_calloc(2, sizeof(long));
  long* sum = given + 1;
  shmem_long_p(given, me, (me + 1) % pes);
  shmem_long_atomic_add(sum, me, 0);
  shmem_barrier_all();
  if (me == 0) printf("PE 0 of %d was given %ld, the sum is %ld\n", pes, *given, *sum);
  shmem_free(given);
  shmem_finalize();
  return 0;
}
