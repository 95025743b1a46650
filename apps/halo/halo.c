/* Heat in a rod, an ordinary MPI program: every rank owns a piece, exchanges one border cell with
 * each neighbour a step, and asks now and then whether the rod has settled.
 *
 *   halo [cells per rank, default 4096] [steps, default 400]
 *
 * The answer depends on cells and ranks only, not on where or how the program runs. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps_per_test = 20 };

/* One step from old to next (cells 1..n); answers the largest change. */
static double step(int n, const double* old, double* next) {
  double change = 0;
  for (int i = 1; i <= n; i++) {
    next[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1];
    change = fmax(change, fabs(next[i] - old[i]));
  }
  return change;
}

static void exchange_borders(int n, double* cells, int left, int right) {
  MPI_Sendrecv(&cells[1], 1, MPI_DOUBLE, left, 0, &cells[n + 1], 1, MPI_DOUBLE, right, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&cells[n], 1, MPI_DOUBLE, right, 1, &cells[0], 1, MPI_DOUBLE, left, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argc > 1 ? atoi(argv[1]) : 4096;
  const int steps_max = argc > 2 ? atoi(argv[2]) : 400;
  if (n < 1 || steps_max < 1) {
    if (rank == 0) fprintf(stderr, "usage: halo [cells per rank] [steps]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  double* old = calloc((size_t)n + 2, sizeof *old);
  double* next = calloc((size_t)n + 2, sizeof *next);
  if (old == NULL || next == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  /* The left end of the rod is hot. */
  if (rank == 0) old[0] = next[0] = 100;

  const double start = MPI_Wtime();
  int steps = 0;
  double largest = 1;
  while (steps < steps_max && largest > 1e-6) {
    exchange_borders(n, old, left, right);
    const double change = step(n, old, next);
    double* swap = old;
    old = next;
    next = swap;
    if (rank == 0) old[0] = 100;
    if (++steps % steps_per_test == 0) {
      MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
  }
  double heat = 0, total = 0;
  for (int i = 1; i <= n; i++) heat += old[i];
  MPI_Reduce(&heat, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("halo: %d ranks, %d steps, heat %.9g, %.3f ms\n", size, steps, total,
           (MPI_Wtime() - start) * 1e3);
  }
  free(old);
  free(next);
  MPI_Finalize();
  return 0;
}
