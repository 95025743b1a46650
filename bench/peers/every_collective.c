/* The collective calls of any number of ranks, of 8 bytes, 4 KiB and 1 MiB: what each rank sends to
 * each other one, or contributes. The mean of the slowest rank's time. A barrier between the calls
 * keeps ranks from running ahead; its own time is taken off, down to a tenth of both together. */
#include "bench/peers/figure.h"

enum { kMost = 1 << 17 }; /* doubles */

static double* sent;
static double* received;
static int ranks;

typedef void (*Call)(int doubles);

static void bcast(int n) { MPI_Bcast(sent, n, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void reduce(int n) { MPI_Reduce(sent, received, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(int n) {
  MPI_Allreduce(sent, received, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(int n) {
  MPI_Gather(sent, n, MPI_DOUBLE, received, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void scatter(int n) {
  MPI_Scatter(received, n, MPI_DOUBLE, sent, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void allgather(int n) {
  MPI_Allgather(sent, n, MPI_DOUBLE, received, n, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(int n) {
  MPI_Alltoall(sent, n, MPI_DOUBLE, received, n, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void reduce_scatter(int n) {
  MPI_Reduce_scatter_block(sent, received, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(int n) { MPI_Scan(sent, received, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void barrier(int n) {
  (void)n;
  MPI_Barrier(MPI_COMM_WORLD);
}

static double run(Call call, int doubles, long count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    call(doubles);
    if (call != barrier) MPI_Barrier(MPI_COMM_WORLD);
  }
  double elapsed = (MPI_Wtime() - begin) / (double)count;
  double slowest;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static double measure(Call call, int doubles) {
  enum { kTried = 10 };
  run(call, doubles, kTried);
  const double tried = run(call, doubles, kTried) * kTried;
  return run(call, doubles, repetitions(tried, kTried, 0.05, kTried, 20000));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    Call call;
  } kCalls[] = {{"coll_bcast", bcast},
                {"coll_reduce", reduce},
                {"coll_allreduce", allreduce},
                {"coll_gather", gather},
                {"coll_scatter", scatter},
                {"coll_allgather", allgather},
                {"coll_alltoall", alltoall},
                {"coll_reduce_scatter", reduce_scatter},
                {"coll_scan", scan}};
  static const int kDoubles[] = {1, 512, kMost};
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t bytes = (size_t)ranks * kMost * sizeof(double);
  sent = (double*)make_buffer(bytes);
  received = (double*)make_buffer(bytes);
  const double apart = measure(barrier, 0);
  if (rank == 0) print_figure("coll_barrier", 0, apart * 1e6, "us");
  for (size_t c = 0; c < sizeof kCalls / sizeof kCalls[0]; ++c) {
    for (size_t s = 0; s < sizeof kDoubles / sizeof kDoubles[0]; ++s) {
      const double both = measure(kCalls[c].call, kDoubles[s]);
      const double alone = both > apart * 1.1 ? both - apart : both * 0.1;
      if (rank == 0) {
        print_figure(kCalls[c].name, kDoubles[s] * (long)sizeof(double), alone * 1e6, "us");
      }
    }
  }
  free(received);
  free(sent);
  MPI_Finalize();
  return 0;
}
