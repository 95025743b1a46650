/* What OpenSHMEM programs do often, compiled with every OpenSHMEM and compared (oshmem.py): words
 * and blocks put to and got from another PE, words that PEs wait for, barriers, broadcasts, sums.
 * Of OpenSHMEM 1.4, so that it is one source for all; plain C, so that no implementation is
 * favoured.
 *
 *   oshmem pairs         2 PEs: everything one-sided, in the heap and in a static variable
 *   oshmem words         2 PEs: a put, a get and a fetch-and-add of 8 bytes; for slow networks
 *   oshmem collectives   any number of PEs
 *   oshmem startup       begins and ends */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kLarge = 1 << 20,
  kTried = 20,
  kMost = 2000000,
  kSets = 16,        /* of what collectives synchronise by, used in turn */
  kQuietEvery = 1000 /* puts */
};

static long static_word;
static long agreed;
static long turn;
static long broadcast_sync[kSets][SHMEM_BCAST_SYNC_SIZE];
static long reduce_sync[kSets][SHMEM_REDUCE_SYNC_SIZE];
static long reduce_work[kSets][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long reduce_from;
static long reduce_to;
static long broadcast_from;
static long broadcast_to;

static int self;
static int pes;
static char* heap;  /* symmetric */
static char* local; /* not */

/* One line of output, read by oshmem.py; bytes is 0 where a figure has no size. */
static void print_figure(const char* figure, long bytes, double value, const char* unit) {
  printf("{\"figure\":\"%s\",\"bytes\":%ld,\"value\":%.9g,\"unit\":\"%s\"}\n", figure, bytes, value,
         unit);
  fflush(stdout);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fail(const char* what, long round) {
  fprintf(stderr, "oshmem: PE %d: %s in round %ld\n", self, what, round);
  fflush(stderr);
  shmem_global_exit(1);
}

typedef void (*Call)(long round, long bytes);

/* Seconds for `count` calls; what was put is there at the end. */
static double run(Call call, long count, long bytes) {
  double begin;
  shmem_barrier_all();
  begin = now();
  for (long i = 0; i < count; ++i) call(i, bytes);
  shmem_quiet();
  return now() - begin;
}

/* Calls that take about `seconds`, from the time of kTried of them at PE 0; the same everywhere. */
static long repetitions(double elapsed, double seconds) {
  shmem_barrier_all();
  if (self == 0) {
    const double wanted = elapsed > 0 ? seconds / (elapsed / kTried) : kMost;
    const long count = wanted < kTried ? kTried : wanted > kMost ? kMost : (long)wanted;
    for (int pe = 0; pe < pes; ++pe) shmem_long_p(&agreed, count, pe);
    shmem_quiet();
  }
  shmem_barrier_all();
  return agreed;
}

/* Seconds a call takes at PE 0. `alone`: only that one calls; the others wait in a barrier. */
static double measure(Call call, long bytes, int alone) {
  const double seconds = 0.15;
  const int calls = !alone || self == 0;
  double elapsed = 0;
  long count;
  for (int i = 0; i < 2; ++i) {
    if (calls) {
      elapsed = run(call, kTried, bytes);
    } else {
      shmem_barrier_all();
    }
  }
  count = repetitions(elapsed, seconds);
  if (calls) {
    elapsed = run(call, count, bytes);
  } else {
    shmem_barrier_all();
  }
  shmem_barrier_all();
  return elapsed / (double)count;
}

/* --- By PE 0, to PE 1. */
static void put_quiet(long round, long bytes) {
  (void)round;
  shmem_putmem(heap, local, (size_t)bytes, 1);
  shmem_quiet();
}
static void put(long round, long bytes) {
  shmem_putmem(heap, local, (size_t)bytes, 1);
  if (round % kQuietEvery == kQuietEvery - 1) shmem_quiet();
}
static void get(long round, long bytes) {
  (void)round;
  shmem_getmem(local, heap, (size_t)bytes, 1);
}
static void put_static(long round, long bytes) {
  (void)bytes;
  shmem_putmem(&static_word, &round, sizeof round, 1);
  shmem_quiet();
}
static void get_static(long round, long bytes) {
  long word;
  (void)round;
  (void)bytes;
  shmem_getmem(&word, &static_word, sizeof word, 1);
}
static long fetched = -1;
static void fetch_add(long round, long bytes) {
  const long former = shmem_long_atomic_fetch_add((long*)heap, 1, 1);
  (void)bytes;
  if (round > 0 && former != fetched + 1) fail("fetch_add: a wrong value", round);
  fetched = former;
}

/* --- By both. */
static long said;
static void ping_pong(long round, long bytes) {
  (void)round;
  (void)bytes;
  ++said;
  if (self == 0) shmem_long_p(&turn, said, 1);
  shmem_long_wait_until(&turn, SHMEM_CMP_GE, said);
  if (self == 1) shmem_long_p(&turn, said, 0);
}

/* --- By all. */
static void barrier(long round, long bytes) {
  (void)round;
  (void)bytes;
  shmem_barrier_all();
}
/* The root goes round, so that no PE can be ahead of the others by more than a round. */
static void broadcast(long round, long bytes) {
  const int root = (int)(round % pes);
  (void)bytes;
  broadcast_from = round;
  shmem_broadcast64(&broadcast_to, &broadcast_from, 1, root, 0, 0, pes,
                    broadcast_sync[round % kSets]);
  if (self != root && broadcast_to != round) fail("broadcast: a wrong value", round);
}
static void sum(long round, long bytes) {
  (void)bytes;
  reduce_from = round;
  shmem_long_sum_to_all(&reduce_to, &reduce_from, 1, 0, 0, pes, reduce_work[round % kSets],
                        reduce_sync[round % kSets]);
  if (reduce_to != round * pes) fail("sum: a wrong value", round);
}

static void words(void) {
  const double times[] = {measure(put_quiet, 8, 1), measure(get, 8, 1), measure(fetch_add, 8, 1)};
  if (self != 0) return;
  print_figure("put", 8, times[0] * 1e6, "us");
  print_figure("get", 8, times[1] * 1e6, "us");
  print_figure("fetch_add", 8, times[2] * 1e6, "us");
}

static void pairs(void) {
  static const long kBlocks[] = {65536, kLarge};
  double time;
  words();
  time = measure(put_static, 8, 1);
  if (self == 0) print_figure("put_static", 8, time * 1e6, "us");
  time = measure(get_static, 8, 1);
  if (self == 0) print_figure("get_static", 8, time * 1e6, "us");
  time = measure(put, 8, 1);
  if (self == 0) print_figure("rate_put", 8, 1 / time, "1/s");
  time = measure(ping_pong, 8, 0);
  if (self == 0) print_figure("pingpong", 8, time / 2 * 1e6, "us");
  for (int i = 0; i < 2; ++i) {
    time = measure(put_quiet, kBlocks[i], 1);
    if (self == 0)
      print_figure("bandwidth_put", kBlocks[i], (double)kBlocks[i] / time / 1e6, "MB/s");
    time = measure(get, kBlocks[i], 1);
    if (self == 0)
      print_figure("bandwidth_get", kBlocks[i], (double)kBlocks[i] / time / 1e6, "MB/s");
  }
}

static void collectives(void) {
  const double times[] = {measure(barrier, 0, 0), measure(broadcast, 8, 0), measure(sum, 8, 0)};
  if (self != 0) return;
  print_figure("barrier", 0, times[0] * 1e6, "us");
  print_figure("broadcast", 8, times[1] * 1e6, "us");
  print_figure("sum", 8, times[2] * 1e6, "us");
}

int main(int argc, char** argv) {
  const char* const what = argc == 2 ? argv[1] : "";
  shmem_init();
  self = shmem_my_pe();
  pes = shmem_n_pes();
  for (int set = 0; set < kSets; ++set) {
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) broadcast_sync[set][i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) reduce_sync[set][i] = SHMEM_SYNC_VALUE;
  }
  if (strcmp(what, "startup") != 0) {
    heap = shmem_malloc(kLarge);
    local = malloc(kLarge);
    if (heap == NULL || local == NULL) fail("no memory", 0);
    memset(heap, 0, kLarge);
    memset(local, 1, kLarge);
    shmem_barrier_all();
    if (strcmp(what, "pairs") == 0 && pes == 2) {
      pairs();
    } else if (strcmp(what, "words") == 0 && pes == 2) {
      words();
    } else if (strcmp(what, "collectives") == 0) {
      collectives();
    } else {
      if (self == 0) fprintf(stderr, "usage: oshmem pairs|words (2 PEs) | collectives | startup\n");
      shmem_global_exit(2);
    }
    shmem_barrier_all();
  }
  /* What comes behind it is the end, which not every implementation survives. */
  if (self == 0) print_figure("complete", 0, 1, "1");
  shmem_finalize();
  free(local);
  return 0;
}
