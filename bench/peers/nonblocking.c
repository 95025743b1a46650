/* Calls begun and waited for beside their blocking forms: collectives of 8 bytes and 64 KiB, a
 * persistent exchange, and how much of a collective call computing hides: 1 is all of it (as
 * IMB-NBC: 1 - (time with computing - computing) / time without). */
#include "bench/peers/figure.h"

enum { kDoubles = 1 << 13 };
static double sent[kDoubles];
static double received[kDoubles * 8];
static int ranks;

typedef void (*Begin)(int doubles, MPI_Request* request);
typedef void (*Whole)(int doubles);

static void ibarrier(int n, MPI_Request* request) {
  (void)n;
  MPI_Ibarrier(MPI_COMM_WORLD, request);
}
static void barrier(int n) {
  (void)n;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void ibcast(int n, MPI_Request* request) {
  MPI_Ibcast(sent, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, request);
}
static void bcast(int n) { MPI_Bcast(sent, n, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void iallreduce(int n, MPI_Request* request) {
  MPI_Iallreduce(sent, received, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}
static void allreduce(int n) {
  MPI_Allreduce(sent, received, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void ialltoall(int n, MPI_Request* request) {
  MPI_Ialltoall(sent, n / ranks, MPI_DOUBLE, received, n / ranks, MPI_DOUBLE, MPI_COMM_WORLD,
                request);
}
static void alltoall(int n) {
  MPI_Alltoall(sent, n / ranks, MPI_DOUBLE, received, n / ranks, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void compute(double seconds) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) {
  }
}

/* Seconds a call: blocking where `begin` is NULL, else with so much computing between. */
static double run(Whole whole, Begin begin, int doubles, long count, double computing) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double from = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (begin == NULL) {
      whole(doubles);
      continue;
    }
    MPI_Request request;
    begin(doubles, &request);
    if (computing > 0) compute(computing);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return (MPI_Wtime() - from) / (double)count;
}

static void measure(const char* name, Whole whole, Begin begin, int doubles, int rank) {
  enum { kTried = 50 };
  const long bytes = doubles * (long)sizeof(double);
  char text[64];
  run(whole, begin, doubles, kTried, 0);
  const double tried = run(whole, begin, doubles, kTried, 0) * kTried;
  const long count = repetitions(tried, kTried, 0.1, kTried, 50000);
  const double pure = run(whole, begin, doubles, count, 0);
  const double blocking = run(whole, NULL, doubles, count, 0);
  double computing = pure;
  MPI_Bcast(&computing, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const double both = run(whole, begin, doubles, count, computing);
  double hidden = 1 - (both - computing) / pure;
  hidden = hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
  if (rank != 0) return;
  snprintf(text, sizeof text, "i%s", name);
  print_figure(text, bytes, pure * 1e6, "us");
  snprintf(text, sizeof text, "%s_blocking", name);
  print_figure(text, bytes, blocking * 1e6, "us");
  snprintf(text, sizeof text, "overlap_i%s", name);
  print_figure(text, bytes, hidden, "part");
}

static double exchanges(int rank, long count, int persistent) {
  MPI_Request requests[2];
  if (persistent) {
    MPI_Send_init(sent, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(received, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const int sends = turn == rank;
      if (persistent) {
        MPI_Start(&requests[sends ? 0 : 1]);
        MPI_Wait(&requests[sends ? 0 : 1], MPI_STATUS_IGNORE);
      } else if (sends) {
        MPI_Send(sent, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(received, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
  const double elapsed = MPI_Wtime() - begin;
  if (persistent) {
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  return elapsed / (double)count / 2;
}

int main(int argc, char** argv) {
  enum { kExchanges = 50000 };
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2) {
    exchanges(rank, kExchanges / 10, 0);
    const double blocking = exchanges(rank, kExchanges, 0);
    exchanges(rank, kExchanges / 10, 1);
    const double persistent = exchanges(rank, kExchanges, 1);
    if (rank == 0) {
      print_figure("persistent_blocking", 8, blocking * 1e6, "us");
      print_figure("persistent", 8, persistent * 1e6, "us");
    }
  }
  measure("barrier", barrier, ibarrier, 0, rank);
  measure("bcast", bcast, ibcast, 1, rank);
  measure("allreduce", allreduce, iallreduce, 1, rank);
  measure("bcast", bcast, ibcast, kDoubles, rank);
  measure("allreduce", allreduce, iallreduce, kDoubles, rank);
  measure("alltoall", alltoall, ialltoall, kDoubles, rank);
  MPI_Finalize();
  return 0;
}
