/* Half a round trip of 8 bytes between two ranks under MPI_THREAD_SINGLE and MPI_THREAD_MULTIPLE
 * (argument "multiple") by one thread a rank, and in the latter by two threads a rank, each with
 * messages of its own. */
#include <pthread.h>

#include "bench/peers/figure.h"

enum { kThreads = 2 };

struct Exchange {
  int rank;
  int tag;
  long count;
};

static void* exchange(void* argument) {
  const struct Exchange* what = argument;
  char word[8] = "";
  for (long i = 0; i < what->count; ++i) {
    if (what->rank == 0) {
      MPI_Send(word, sizeof word, MPI_CHAR, 1, what->tag, MPI_COMM_WORLD);
      MPI_Recv(word, sizeof word, MPI_CHAR, 1, what->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(word, sizeof word, MPI_CHAR, 0, what->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(word, sizeof word, MPI_CHAR, 0, what->tag, MPI_COMM_WORLD);
    }
  }
  return NULL;
}

/* Seconds of so many exchanges by each of so many threads. */
static double run(int rank, int threads, long count) {
  struct Exchange what[kThreads];
  pthread_t made[kThreads];
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < threads; ++i) {
    what[i] = (struct Exchange){rank, i, count};
    if (i > 0) pthread_create(&made[i], NULL, exchange, &what[i]);
  }
  exchange(&what[0]);
  for (int i = 1; i < threads; ++i) pthread_join(made[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

static void measure(const char* name, int rank, int threads) {
  const long tried = 500;
  run(rank, threads, tried);
  double elapsed = run(rank, threads, tried);
  const long count = repetitions(elapsed, tried, 0.3, tried, 200000);
  elapsed = run(rank, threads, count);
  if (rank == 0) print_figure(name, 8, elapsed / (double)count / 2 * 1e6, "us");
}

int main(int argc, char** argv) {
  const int wanted =
      argc == 2 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < wanted) {
    if (rank == 0) fprintf(stderr, "no MPI_THREAD_MULTIPLE here\n");
  } else if (wanted == MPI_THREAD_SINGLE) {
    measure("latency_single", rank, 1);
  } else {
    measure("latency_multiple", rank, 1);
    measure("latency_two_threads", rank, kThreads);
  }
  MPI_Finalize();
  return 0;
}
