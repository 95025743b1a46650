/* Half round trip of two ranks, 8 bytes to 4 MiB, buffers reused; with an argument they are
 * MPI_Alloc_mem's. */
#include "bench/peers/figure.h"

static double round_trips(int rank, char* buffer, int bytes, long count) {
  double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (rank == 0) {
      MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  static const int kSizes[] = {8, 64, 512, 4096, 65536, 1 << 20, 4 << 20};
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffer = NULL;
  if (argc > 1) {
    MPI_Alloc_mem(4 << 20, MPI_INFO_NULL, &buffer);
    memset(buffer, 1, 4 << 20);
  } else {
    buffer = make_buffer(4 << 20);
  }
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; ++s) {
    const long tried = 20;
    round_trips(rank, buffer, kSizes[s], tried);
    double elapsed = round_trips(rank, buffer, kSizes[s], tried);
    long count = repetitions(elapsed, tried, 0.06, 20, 200000);
    elapsed = round_trips(rank, buffer, kSizes[s], count);
    if (rank == 0) print_figure("latency", kSizes[s], elapsed / (double)count / 2 * 1e6, "us");
  }
  if (argc > 1) {
    MPI_Free_mem(buffer);
  } else {
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
