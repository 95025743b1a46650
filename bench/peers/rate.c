/* Messages per second from rank 0 to rank 1, windows of 64 non-blocking calls, 8 bytes each. */
#include "bench/peers/figure.h"

enum { kWindow = 64, kBytes = 8 };

static double windows(int rank, char* buffer, long count) {
  MPI_Request requests[kWindow];
  char answer = 0;
  double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (rank == 0) {
      for (int w = 0; w < kWindow; ++w) {
        MPI_Isend(buffer + w * kBytes, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[w]);
      }
      MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(&answer, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (int w = 0; w < kWindow; ++w) {
        MPI_Irecv(buffer + w * kBytes, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[w]);
      }
      MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
      MPI_Send(&answer, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
  }
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffer = make_buffer(kWindow * kBytes);
  windows(rank, buffer, 100);
  double elapsed = windows(rank, buffer, 100);
  long count = repetitions(elapsed, 100, 0.2, 100, 100000);
  elapsed = windows(rank, buffer, count);
  if (rank == 0) print_figure("rate", kBytes, (double)count * kWindow / elapsed, "1/s");
  free(buffer);
  MPI_Finalize();
  return 0;
}
