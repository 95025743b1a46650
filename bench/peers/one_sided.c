/* One-sided calls of two ranks, rank 0 the origin, each with the flush that completes it: 8-byte
 * put and get in a window that was allocated and in one that was created, fetch-and-add,
 * accumulate; and the median of a fetch-and-add in a rank that computes 20 ms at a time between two
 * calls. */
#include "bench/peers/figure.h"

enum { kWords = 512, kTarget = 1 };

typedef void (*Call)(MPI_Win win, long round);

static void put(MPI_Win win, long round) {
  MPI_Put(&round, 1, MPI_LONG, kTarget, round % kWords, 1, MPI_LONG, win);
  MPI_Win_flush(kTarget, win);
}

static void get(MPI_Win win, long round) {
  long got;
  MPI_Get(&got, 1, MPI_LONG, kTarget, round % kWords, 1, MPI_LONG, win);
  MPI_Win_flush(kTarget, win);
}

static void fetch_and_op(MPI_Win win, long round) {
  const long one = 1;
  long old;
  (void)round;
  MPI_Fetch_and_op(&one, &old, MPI_LONG, kTarget, 0, MPI_SUM, win);
  MPI_Win_flush(kTarget, win);
}

static void accumulate(MPI_Win win, long round) {
  const long one = 1;
  (void)round;
  MPI_Accumulate(&one, 1, MPI_LONG, kTarget, 1, 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_flush(kTarget, win);
}

static void measure(const char* name, Call call, MPI_Win win, int rank) {
  enum { kTried = 50, kMost = 200000 };
  double elapsed = 0;
  long count = kTried;
  for (int pass = 0; pass < 3; ++pass) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const double begin = MPI_Wtime();
      for (long i = 0; i < count; ++i) call(win, i);
      elapsed = MPI_Wtime() - begin;
    }
    if (pass == 1) count = repetitions(elapsed, kTried, 0.1, kTried, kMost);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) print_figure(name, 8, elapsed / (double)count * 1e6, "us");
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static void compute(double seconds) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) {
  }
}

/* The target calls MPI between two stretches of 20 ms only; the origin asks every 3 ms. */
static void measure_busy(MPI_Win win, int rank) {
  enum { kStretches = 12, kCalls = 60 };
  double each[kCalls];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == kTarget) {
    for (int i = 0; i < kStretches; ++i) {
      int came;
      compute(0.02);
      MPI_Iprobe(0, 0, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    }
  } else {
    for (int i = 0; i < kCalls; ++i) {
      const double begin = MPI_Wtime();
      fetch_and_op(win, i);
      each[i] = MPI_Wtime() - begin;
      compute(0.003);
    }
    qsort(each, kCalls, sizeof each[0], by_value);
    print_figure("win_fetch_and_op_busy", 8, each[kCalls / 2] * 1e6, "us");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win allocated;
  MPI_Win created;
  long* memory;
  long* own = (long*)make_buffer(kWords * sizeof(long));
  MPI_Win_allocate(kWords * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &allocated);
  MPI_Win_create(own, kWords * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &created);
  memset(memory, 0, kWords * sizeof(long));
  MPI_Win_lock_all(0, allocated);
  MPI_Win_lock_all(0, created);
  measure("win_put", put, allocated, rank);
  measure("win_get", get, allocated, rank);
  measure("win_put_created", put, created, rank);
  measure("win_get_created", get, created, rank);
  measure("win_fetch_and_op", fetch_and_op, allocated, rank);
  measure("win_accumulate", accumulate, allocated, rank);
  measure_busy(allocated, rank);
  MPI_Win_unlock_all(created);
  MPI_Win_unlock_all(allocated);
  MPI_Win_free(&created);
  MPI_Win_free(&allocated);
  free(own);
  MPI_Finalize();
  return 0;
}
