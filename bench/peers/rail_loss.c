/* Rank 0 sends rank 1 messages of 64 KiB for so many seconds, a window of 16 at a time, and rank 1
   says what came when, by the monotonic clock of the machine that both nodes are on:
     rail_loss SECONDS  ->  {"at":seconds,"bytes":N} for each 5 ms in which something came,
                            {"longest_gap_ms":N,"wrong":N} */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kWindow = 16, kBytes = 64 << 10, kSlices = 1 << 16 };
static const double kSlice = 0.005;
static char buffers[kWindow][kBytes];
static long came[kSlices];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void send_all(double seconds) {
  const double begin = now();
  long number = 0;
  for (int more = 1; more;) {
    MPI_Request sent[kWindow];
    more = now() - begin < seconds;
    for (int i = 0; i < kWindow; ++i, ++number) {
      /* The last one of the last window is the end. */
      const long mark = !more && i == kWindow - 1 ? -number - 1 : number;
      memcpy(buffers[i], &mark, sizeof mark);
      MPI_Isend(buffers[i], kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &sent[i]);
    }
    MPI_Waitall(kWindow, sent, MPI_STATUSES_IGNORE);
  }
}

static void receive_all(void) {
  const double begin = now();
  double last = begin, longest = 0;
  long number = 0, wrong = 0, mark = 0;
  while (mark >= 0) {
    MPI_Recv(buffers[0], kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memcpy(&mark, buffers[0], sizeof mark);
    wrong += mark != number && mark != -number - 1;
    ++number;
    const double at = now();
    const long slice = (long)((at - begin) / kSlice);
    if (slice < kSlices) came[slice] += kBytes;
    if (at - last > longest) longest = at - last;
    last = at;
  }
  for (long slice = 0; slice < kSlices; ++slice) {
    if (came[slice] == 0) continue;
    printf("{\"at\":%.6f,\"bytes\":%ld}\n", begin + (double)slice * kSlice, came[slice]);
  }
  printf("{\"longest_gap_ms\":%.2f,\"wrong\":%ld}\n", longest * 1e3, wrong);
  fflush(stdout);
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks != 2) return 2;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send_all(atof(argv[1]));
  if (rank == 1) receive_all();
  MPI_Finalize();
  return 0;
}
