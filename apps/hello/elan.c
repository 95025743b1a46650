/* A first Elanlib program: every process puts a number into its right neighbour's memory, meets
 * the others, and process 0 prints what it was given. */
#include <stdio.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/elan/elan.h"

FAIRLEAD_FIBER_PROGRAM;

int main(void) {
  ELAN_BASE* base = elan_baseInit(0);
  ELAN_STATE* state = base->state;
  /* At the same place of every process's heap. */
  long* given = elan_gallocMain(base, base->allGroup, 0, 2 * sizeof(long));
  const long mine[2] = {42, state->vp};
  elan_wait(elan_put(state, mine, given, sizeof mine, (state->vp + 1) % state->nvp),
            base->waitType);
  elan_hgsync(base->allGroup);
  if (state->vp == 0) {
    printf("process 0 of %u was given %ld by process %ld\n", state->nvp, given[0], given[1]);
  }
  elan_fini();
  return 0;
}
