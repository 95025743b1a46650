/* Bytes per second from the first half of the ranks to the second, each to each, 256 KiB by
 * non-blocking calls: what many ranks of two nodes do to the network between them, and to each
 * other where there are more ranks than processors. */
#include "bench/peers/figure.h"

enum { kBytes = 256 << 10, kRanksMax = 128 };

static double rounds(int rank, int half, char* buffers, long count) {
  MPI_Request requests[kRanksMax];
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    for (int p = 0; p < half; ++p) {
      char* buffer = buffers + (size_t)p * kBytes;
      if (rank < half) {
        MPI_Isend(buffer, kBytes, MPI_CHAR, half + p, 0, MPI_COMM_WORLD, &requests[p]);
      } else {
        MPI_Irecv(buffer, kBytes, MPI_CHAR, p, 0, MPI_COMM_WORLD, &requests[p]);
      }
    }
    MPI_Waitall(half, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int half = ranks / 2;
  if (ranks % 2 != 0 || half == 0 || half > kRanksMax) {
    if (rank == 0)
      fprintf(stderr, "crossing: an even number of ranks, at most %d\n", 2 * kRanksMax);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  char* buffers = make_buffer((size_t)half * kBytes);
  double elapsed = rounds(rank, half, buffers, 4);
  long count = repetitions(elapsed, 4, 1, 4, 100000);
  elapsed = rounds(rank, half, buffers, count);
  if (rank == 0) {
    print_figure("crossing", kBytes, (double)count * half * half * kBytes / elapsed / 1e6, "MB/s");
  }
  free(buffers);
  MPI_Finalize();
  return 0;
}
