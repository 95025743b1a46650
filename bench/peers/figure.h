/* Shared by the programs that are compiled with every MPI and compared: how a figure is printed,
 * how many repetitions fit a time. Plain C and mpi.h, so that no implementation is favoured. */
#ifndef FAIRLEAD_BENCH_PEERS_FIGURE_H
#define FAIRLEAD_BENCH_PEERS_FIGURE_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line of output, read by peers.py; bytes is 0 where a figure has no message size. */
static inline void print_figure(const char* figure, long bytes, double value, const char* unit) {
  printf("{\"figure\":\"%s\",\"bytes\":%ld,\"value\":%.9g,\"unit\":\"%s\"}\n", figure, bytes, value,
         unit);
  fflush(stdout);
}

/* Repetitions that take about `seconds`, from the time of `tried` of them; the same on every rank.
 */
static inline long repetitions(double elapsed, long tried, double seconds, long least, long most) {
  double wanted = elapsed > 0 ? seconds / (elapsed / (double)tried) : (double)most;
  long count = wanted < (double)least ? least : wanted > (double)most ? most : (long)wanted;
  MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  return count;
}

/* Page-aligned and touched, so that no figure pays for first use. */
static inline char* make_buffer(size_t size) {
  size_t rounded = (size + 4095) / 4096 * 4096;
  char* buffer = aligned_alloc(4096, rounded);
  if (buffer == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", rounded);
    exit(1);
  }
  memset(buffer, 1, rounded);
  return buffer;
}

#endif
