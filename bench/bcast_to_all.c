/* MPI_Bcast to all ranks on a modelled platform: from when the root calls it to when the last rank
 * has the bytes, which is what `fairlead bench multicast` takes of the Port's multicast. Ranks meet
 * and then sleep to one instant, so that none waits for a late one. The median, as ranks meet
 * before one broadcast in 64 (collectives/choose.h).
 *
 *   fairlead-mpicc -O2 bench/bcast_to_all.c -o bcast_to_all
 *
 *   fairlead run -n 64 --on myrinet-ppro --lci pio --mpi-device direct ./bcast_to_all 8
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kMost = 1 << 20, kWarm = 2, kTimed = 11 };
static char bytes[kMost];
static double us[kTimed];

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int rank;
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc > 1 ? atoi(argv[1]) : 8;
  if (count < 0 || count > kMost) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < kWarm + kTimed; ++i) {
    double now = MPI_Wtime();
    double latest;
    double end;
    MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    usleep((unsigned)((latest + 2e-3 - MPI_Wtime()) * 1e6));
    double begin = MPI_Wtime();
    MPI_Bcast(bytes, count, MPI_CHAR, 0, MPI_COMM_WORLD);
    now = MPI_Wtime();
    MPI_Reduce(&now, &end, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (i >= kWarm) us[i - kWarm] = (end - begin) * 1e6;
  }
  qsort(us, kTimed, sizeof us[0], compare);
  if (rank == 0) printf("%d bytes to %d ranks: median %.2f us\n", count, size, us[kTimed / 2]);
  MPI_Finalize();
  return 0;
}
