/* Barrier, broadcast of 8 bytes and of 1 MiB (the root goes round, so that no call can run ahead)
 * and sums of one double and of 1 MiB of them over any number of ranks: the mean, and of the small
 * ones the 99.9th percentile as rank 0 sees it. */
#include "bench/peers/figure.h"

typedef void (*Call)(long round, int ranks);

static void barrier(long round, int ranks) {
  (void)round;
  (void)ranks;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(long round, int ranks) {
  double value = (double)round;
  MPI_Bcast(&value, 1, MPI_DOUBLE, (int)(round % ranks), MPI_COMM_WORLD);
}

static void allreduce(long round, int ranks) {
  double mine = (double)round;
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (sum != mine * ranks) {
    fprintf(stderr, "allreduce: wrong sum in round %ld\n", round);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

enum { kLarge = 1 << 17 }; /* doubles */
static double large[kLarge];
static double large_sum[kLarge];

static void bcast_large(long round, int ranks) {
  MPI_Bcast(large, kLarge, MPI_DOUBLE, (int)(round % ranks), MPI_COMM_WORLD);
}

static void allreduce_large(long round, int ranks) {
  large[round % kLarge] = (double)round;
  MPI_Allreduce(large, large_sum, kLarge, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (large_sum[round % kLarge] != (double)round * ranks) {
    fprintf(stderr, "allreduce: wrong sum in round %ld\n", round);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Seconds for `count` calls; each one's into `each` where that is not null. */
static double run(Call call, int ranks, long count, double* each) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  double last = begin;
  for (long i = 0; i < count; ++i) {
    call(i, ranks);
    if (each != NULL) {
      double now = MPI_Wtime();
      each[i] = now - last;
      last = now;
    }
  }
  return MPI_Wtime() - begin;
}

static void measure(const char* name, Call call, long bytes, int rank, int ranks) {
  enum { kTried = 20, kMost = 50000, kSmall = 1024 };
  char tail[64];
  double elapsed = run(call, ranks, kTried, NULL);
  elapsed = run(call, ranks, kTried, NULL);
  long count = repetitions(elapsed, kTried, 0.25, kTried, kMost);
  elapsed = run(call, ranks, count, NULL);
  if (rank == 0) print_figure(name, bytes, elapsed / (double)count * 1e6, "us");
  if (bytes > kSmall) return;
  double* each = malloc(sizeof(double) * (size_t)count);
  run(call, ranks, count, each);
  if (rank == 0) {
    qsort(each, (size_t)count, sizeof(double), by_value);
    snprintf(tail, sizeof tail, "%s_p999", name);
    print_figure(tail, bytes, each[(long)((double)count * 0.999)] * 1e6, "us");
  }
  free(each);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  measure("barrier", barrier, 0, rank, ranks);
  measure("bcast", bcast, 8, rank, ranks);
  measure("allreduce", allreduce, 8, rank, ranks);
  measure("bcast", bcast_large, (long)sizeof large, rank, ranks);
  measure("allreduce", allreduce_large, (long)sizeof large, rank, ranks);
  MPI_Finalize();
  return 0;
}
