/* Calls of OpenSHMEM and Elanlib with memory that the program may not touch; which one: argv[1]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairlead/systems/elan/elan.h"
#include "fairlead/systems/shmem/shmem.h"

static const char constant[256] = "read only";

static void faults(const void* in, void* inout, size_t count, void* handle) {
  (void)in, (void)inout, (void)count;
  *(volatile int*)handle = 1;
}

int main(int argc, char** argv) {
  const char* const which = argc > 1 ? argv[1] : "";
  shmem_init();
  char* const heap = shmem_calloc(1, 1 << 20);
  void* volatile nowhere = (void*)0x7654000;
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (strcmp(which, "unmapped") == 0 && me == 1) shmem_putmem(heap, nowhere, 200, 0);
  if (strcmp(which, "read-only") == 0 && me == 1) shmem_getmem((void*)constant, heap, 200, 0);
  if (strcmp(which, "atomic") == 0 && me == 1) shmem_long_atomic_fetch_nbi(nowhere, (long*)heap, 0);
  if (strcmp(which, "long") == 0 && me == 1) shmem_putmem(heap, nowhere, 1 << 20, 0);
  if (strcmp(which, "own") == 0 && me == 1) *(volatile int*)nowhere = 1;
  if (strcmp(which, "callback") == 0) {
    ELAN_BASE* const base = elan_baseInit(0);
    long in = 1, out = 0;
    elan_reduce(base->allGroup, &in, &out, sizeof in, 1, faults, nowhere, ELAN_REDUCE_COMMUTE);
  }
  if (strcmp(which, "elan") == 0 && me == 1) {
    ELAN_BASE* const base = elan_baseInit(0);
    elan_wait(elan_put(base->state, nowhere, heap, 200, 0), base->waitType);
  }
  shmem_barrier_all();
  shmem_finalize();
  printf("no fault\n");
  return 0;
}
