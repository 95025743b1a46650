/* What the macros of PARMACS (Boyle et al., Portable Programs for Parallel Processors, 1987; as the
 * SPLASH programs use them) stand for on Fairlead's page DSM: parmacs.m4 expands them to this, and
 * fairlead-parmacs-cc runs both m4 and the compiler (docs/dsm.md). Rank 0 runs main(); the others
 * wait until it creates processes. Errors end the job with rank, cause and call. */
#ifndef FAIRLEAD_PARMACS_H
#define FAIRLEAD_PARMACS_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fairlead/systems/dsm/parmacs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PAGE_SIZE
#define PAGE_SIZE 4096 /* NOLINT(readability-identifier-naming): the programs' name */
#endif

/* MAIN_ENV, before main(). Collective. On rank 0 it returns; the others run what is created on
 * them, and end when rank 0 does. `threads`: the processes have static variables and malloc's
 * memory in common, as the threads of one process (fairlead-parmacs-cc -threads). */
void fairlead_parmacs_begin(int threads);
#ifdef FAIRLEAD_PARMACS_THREADS
#define FAIRLEAD_PARMACS_HAS_THREADS 1
#else
#define FAIRLEAD_PARMACS_HAS_THREADS 0
#endif
/* MAIN_END, or the end of main(): on rank 0, with nothing created that still runs. */
void fairlead_parmacs_end(void);

/* CREATE(f): the next rank that has nothing to do runs f, with the static variables that this one
 * has now. CREATE(f, n): n - 1 of them do so, and the caller runs f itself. */
void fairlead_parmacs_create(void (*body)(void));
void fairlead_parmacs_create_all(void (*body)(void), unsigned processes);
/* WAIT_FOR_END: until all that was created has ended. */
void fairlead_parmacs_wait_for_end(void);

/* Zeroed; never null: a heap that is too small ends the job. */
void* fairlead_parmacs_malloc(size_t bytes);
/* By the process that allocated it. */
void fairlead_parmacs_free(void* allocated);

void fairlead_parmacs_lock_init(fairlead_parmacs_lock* lock);
void fairlead_parmacs_acquire(fairlead_parmacs_lock* lock);
void fairlead_parmacs_release(fairlead_parmacs_lock* lock);

void fairlead_parmacs_barrier_init(fairlead_parmacs_barrier* barrier);
/* Until so many processes are there. */
void fairlead_parmacs_arrive(fairlead_parmacs_barrier* barrier, unsigned processes);

void fairlead_parmacs_pause_init(fairlead_parmacs_pause* pause);
void fairlead_parmacs_pause_set(fairlead_parmacs_pause* pause, unsigned set);
/* Until it is `set`. */
void fairlead_parmacs_pause_wait(fairlead_parmacs_pause* pause, unsigned set);

void fairlead_parmacs_condition_init(fairlead_parmacs_condition* condition);
/* With the lock held, and held again on return. */
void fairlead_parmacs_condition_wait(fairlead_parmacs_condition* condition,
                                     fairlead_parmacs_lock* lock);
/* With the lock held that those who wait wait with. */
void fairlead_parmacs_condition_wake(fairlead_parmacs_condition* condition, int all);

void fairlead_parmacs_subscripts_init(fairlead_parmacs_subscripts* subscripts);
/* GETSUB: the next of 0 to `last`, each for one process. After the last: -1, once all `processes`
 * have asked for more; the next round begins at 0. */
long fairlead_parmacs_next_subscript(fairlead_parmacs_subscripts* subscripts, long last,
                                     unsigned processes);

/* CLOCK: microseconds; of virtual time on a modelled platform. */
unsigned long fairlead_parmacs_clock(void);

#ifdef __cplusplus
}
#endif
#endif
