/* One rank for launchers_test.py; the first argument says what it does between Init and Finalize.
   The last rank is the one that misbehaves. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each rank's number to every other one, and a MiB around the ring. */
static void exchange(int rank, int ranks) {
  enum { kCount = 1 << 17 };
  static long out[kCount], in[kCount];
  int sum = 0, i = 0;
  long wrong = 0;
  const int left = (rank + ranks - 1) % ranks;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < kCount; ++i) out[i] = (long)rank * kCount + i;
  MPI_Sendrecv(out, kCount, MPI_LONG, (rank + 1) % ranks, 7, in, kCount, MPI_LONG, left, 7,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < kCount; ++i) wrong += in[i] != (long)left * kCount + i;
  printf("rank %d of %d: sum %d, %ld wrong\n", rank, ranks, sum, wrong);
  fflush(stdout);
}

static void finalize_at_exit(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "exchange";
  int rank = 0, ranks = 0, code = 0;
  if (strcmp(what, "early") == 0) exit(3);
  /* By a handler that was there before the library had anything to do. */
  if (strcmp(what, "handler") == 0) atexit(finalize_at_exit);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  exchange(rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Longer than others' silence may be; nobody looks at its messages meanwhile. */
  if (strcmp(what, "slow") == 0 && rank % 2 == 1) sleep(3);
  if (rank == ranks - 1) {
    if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 42);
    if (strcmp(what, "kill") == 0) raise(SIGKILL);
    /* Dead to its peers, and its launcher does not see it. */
    if (strcmp(what, "stop") == 0) raise(SIGSTOP);
    if (strcmp(what, "sleep") == 0) {
      printf("rank %d sleeps\n", rank);
      fflush(stdout);
      sleep(60);
    }
    if (strcmp(what, "leave") == 0) exit(0);
    if (strcmp(what, "code") == 0) code = 5;
    /* A copy of the joined process that ends is not the rank's end. */
    if (strcmp(what, "fork") == 0 && fork() == 0) exit(0);
  }
  if (strcmp(what, "handler") == 0) return 0;
  /* Also what waits for the rank that went. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (strcmp(what, "quick") == 0) _exit(0);
  return code;
}
