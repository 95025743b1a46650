/* Sum of the ranks' proportional set sizes after everybody has talked to its neighbours and to
 * all, read while every rank is alive. */
#include "bench/peers/figure.h"
#include "bench/peers/pss.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char out[512] = {0};
  char in[512];
  for (int i = 0; i < 4; ++i) {
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % ranks, 0, in, sizeof in, MPI_CHAR,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = (double)pss_kib();
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) print_figure("memory", 0, sum / 1024, "MiB");
  MPI_Finalize();
  return 0;
}
