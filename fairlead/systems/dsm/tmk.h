/* The calls of TreadMarks (Amza et al., IEEE Computer 29(2), 1996, figure 2) on Fairlead's page
 * DSM: programs written to them run unchanged under `fairlead run` (docs/dsm.md). Link with
 * libfairlead_dsm. Errors end the job with rank, cause and call. */
#ifndef FAIRLEAD_TMK_H
#define FAIRLEAD_TMK_H

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): the names are TreadMarks' */
#define TMK_NPROCS 1024
#define TMK_NLOCKS 4096
#define TMK_NBARRIERS 4096

/* Set by Tmk_startup: the number of ranks, and this one's. */
extern unsigned Tmk_nprocs;
extern unsigned Tmk_proc_id;
/* NOLINTEND(readability-identifier-naming) */

/* Collective. Reads FAIRLEAD_DSM_HEAP (bytes; K, M, G may follow; default 64M),
 * FAIRLEAD_DSM_ENGINE (automatic, uffd, mprotect), FAIRLEAD_DSM_PROTOCOL, FAIRLEAD_DSM_FAITHFUL,
 * FAIRLEAD_DSM_WAKE and FAIRLEAD_DSM_AHEAD (docs/dsm.md), the same on every rank. */
void Tmk_startup(int argc, char** argv);
/* Ends this rank. Collective if status is 0; else it ends the job with that status. */
void Tmk_exit(int status);

/* Every rank, with the same id < TMK_NBARRIERS. */
void Tmk_barrier(unsigned id);
/* id < TMK_NLOCKS. */
void Tmk_lock_acquire(unsigned id);
void Tmk_lock_release(unsigned id);

/* With the lock held: gives it up until a rank that holds it signals this condition of it (any
 * number), and has it again on return. Signals wake who waited longest, or all. */
void Tmk_lock_cond_wait(unsigned id, unsigned condition);
void Tmk_lock_cond_signal(unsigned id, unsigned condition);
void Tmk_lock_cond_broadcast(unsigned id, unsigned condition);

/* Zeroed shared memory; null: there is not so much left. */
char* Tmk_malloc(unsigned size);
/* By the rank that allocated it. */
void Tmk_free(char* allocated);
/* Fairlead's own: has these bytes of shared memory here before a system call that is handed them
 * and, where `writes` is not 0, stores into them. */
void Tmk_touch(const void* begin, unsigned long bytes, int writes);
/* Copies a static variable of this rank to all others, where it is behind their next barrier. */
void Tmk_distribute(void* variable, int size);

#ifdef __cplusplus
}
#endif
#endif
