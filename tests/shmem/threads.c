/* Several threads of each PE at work at once (SHMEM_THREAD_MULTIPLE): puts, atomics and waits of
 * all, each on words of its own; barriers of one thread while another needs the others' answers;
 * and collectives of two teams of all PEs at the same time. Argument 1: the level that is expected.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fairlead/systems/shmem/shmem.h"

enum { kThreads = 4, kRounds = 200, kBlock = 512 };

static long sum;
static long turns[kThreads];
static long blocks[kThreads][kBlock];
static int wrong;

static void expect(int holds, const char* what, long got) {
  if (holds) return;
  __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
  printf("PE %d: %s: %ld\n", shmem_my_pe(), what, got);
}

/* A token goes around the PEs, one for each thread, and each holder adds to PE 0's sum. */
static void* rounds(void* number) {
  const int thread = (int)(long)number;
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  const int next = (me + 1) % pes;
  shmem_ctx_t ctx;
  expect(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "shmem_ctx_create", thread);
  long mine[kBlock];
  for (long round = 1; round <= kRounds; ++round) {
    if (me != 0 || round > 1) {
      shmem_long_wait_until(&turns[thread], SHMEM_CMP_GE, me == 0 ? round - 1 : round);
      const long before = me == 0 ? round - 1 : round;
      expect(blocks[thread][0] == before * 10 + thread, "the block's begin", blocks[thread][0]);
      expect(blocks[thread][kBlock - 1] == before * 10 + thread, "its end",
             blocks[thread][kBlock - 1]);
    }
    shmem_ctx_long_atomic_add(ctx, &sum, thread + 1, 0);
    for (int i = 0; i < kBlock; ++i) mine[i] = round * 10 + thread;
    shmem_ctx_long_put_nbi(ctx, blocks[thread], mine, kBlock, next);
    shmem_ctx_quiet(ctx);
    shmem_long_p(&turns[thread], round, next);
  }
  if (me == 0) shmem_long_wait_until(&turns[thread], SHMEM_CMP_GE, kRounds);
  shmem_ctx_destroy(ctx);
  return NULL;
}

/* Thread 0 of each PE comes to a barrier; thread 1 of PE 0 first says what thread 0 of the others
 * waits for before it. */
static long go;
static void* barrier_or_word(void* number) {
  const int me = shmem_my_pe();
  if ((long)number == 0) {
    if (me != 0) shmem_long_wait_until(&go, SHMEM_CMP_EQ, 7);
    shmem_barrier_all();
  } else if (me == 0) {
    for (int pe = 1; pe < shmem_n_pes(); ++pe) shmem_long_p(&go, 7, pe);
    shmem_quiet();
  }
  return NULL;
}

static shmem_team_t teams[2];
static long sources[2];
static long results[2];
static void* reductions(void* number) {
  const long which = (long)number;
  const int pes = shmem_n_pes();
  for (long round = 0; round < kRounds; ++round) {
    sources[which] = round + shmem_my_pe() + which;
    shmem_long_sum_reduce(teams[which], &results[which], &sources[which], 1);
    const long all = pes * (round + which) + (long)pes * (pes - 1) / 2;
    expect(results[which] == all, "a sum of a team", results[which]);
    shmem_team_sync(teams[which]);
  }
  return NULL;
}

static void run(void* (*body)(void*), int threads) {
  pthread_t made[kThreads];
  for (long i = 0; i < threads; ++i) pthread_create(&made[i], NULL, body, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(made[i], NULL);
}

int main(int argc, char** argv) {
  int provided = -1;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const int expected = argc > 1 ? atoi(argv[1]) : SHMEM_THREAD_MULTIPLE;
  expect(provided == expected, "provided", provided);
  if (provided == SHMEM_THREAD_MULTIPLE) {
    run(rounds, kThreads);
    shmem_barrier_all();
    const long all = (long)shmem_n_pes() * kRounds * kThreads * (kThreads + 1) / 2;
    if (shmem_my_pe() == 0) expect(sum == all, "the sum", sum);
    shmem_barrier_all();
    run(barrier_or_word, 2);
    shmem_barrier_all();
    for (int i = 0; i < 2; ++i) {
      shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &teams[i]);
    }
    run(reductions, 2);
  }
  shmem_barrier_all();
  const int bad = wrong;
  if (shmem_my_pe() == 0 && !bad) printf("threads of %d PEs: level %d\n", shmem_n_pes(), provided);
  shmem_finalize();
  return bad;
}
