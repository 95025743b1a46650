/* SHMEM and MPI in one program: each set up before the other, both at work at the same time on the
 * same ranks, and either ended first. argv[1]: "mpi-first" or "shmem-first". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/shmem/shmem.h"

enum { kTurns = 20, kLong = 20000 };

static int mailbox = -1; /* a static variable is symmetric */

static void fail(int rank, const char* what, int turn) {
  fprintf(stderr, "rank %d: %s in turn %d\n", rank, what, turn);
  exit(1);
}

int main(int argc, char** argv) {
  const int mpi_first = argc > 1 && strcmp(argv[1], "mpi-first") == 0;
  if (mpi_first) MPI_Init(&argc, &argv);
  shmem_init();
  if (!mpi_first) MPI_Init(&argc, &argv);

  int rank = -1, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* Expect: a process has one number in both. */
  if (rank != shmem_my_pe() || size != shmem_n_pes()) fail(rank, "other numbers", 0);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;

  int* heap = shmem_malloc(kLong * sizeof *heap);
  int* sent = malloc(kLong * sizeof *sent);
  int* got = malloc(kLong * sizeof *got);
  if (heap == NULL || sent == NULL || got == NULL) fail(rank, "no memory", 0);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < kLong; ++i) sent[i] = turn * 100000 + rank + i;
    /* A long message of MPI's is under way while SHMEM puts as much. */
    MPI_Request requests[2];
    MPI_Irecv(got, kLong, MPI_INT, left, turn, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, kLong, MPI_INT, right, turn, MPI_COMM_WORLD, &requests[1]);
    shmem_int_put(heap, sent, kLong, left);
    shmem_quiet();
    shmem_int_p(&mailbox, turn, left); /* what is behind the quiet is seen after it */
    shmem_int_wait_until(&mailbox, SHMEM_CMP_EQ, turn);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kLong; ++i) {
      if (got[i] != turn * 100000 + left + i) fail(rank, "another message", turn);
      if (heap[i] != turn * 100000 + right + i) fail(rank, "another put", turn);
    }
    /* Collectives of both, one behind the other; MPI sends from the symmetric heap. */
    int sum = 0, shmem_sum = 0;
    MPI_Allreduce(&heap[turn], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    heap[0] = sent[turn];
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &heap[1], &heap[0], 1);
    shmem_sum = heap[1];
    if (sum != shmem_sum) fail(rank, "other sums", turn);
    turn % 2 == 0 ? shmem_barrier_all() : (void)MPI_Barrier(MPI_COMM_WORLD);
  }
  shmem_free(heap);
  free(sent);
  free(got);

  if (rank == 0) printf("both are well on %d ranks\n", size);
  if (mpi_first) MPI_Finalize();
  shmem_finalize();
  if (!mpi_first) MPI_Finalize();
  return 0;
}
