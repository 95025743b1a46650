/* An MPI program as users write them, as a process and as a fiber: ping-pong of short and long
 * messages, a reduction, loops on the clock and on a test. Prints rank 0's virtual time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 40, longest = 40000 };

static void fail(const char* what) {
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void ping_pong(int rank, int size) {
  const int peer = rank ^ 1;
  if (peer >= size) return;
  unsigned char* bytes = malloc(longest);
  if (bytes == NULL) fail("memory");
  for (int i = 0; i < rounds; i++) {
    const int count = i % 4 == 3 ? longest - i : i * 50;
    if (rank % 2 == 0) {
      for (int k = 0; k < count; k++) bytes[k] = (unsigned char)(k * 7 + i);
      MPI_Send(bytes, count, MPI_BYTE, peer, i, MPI_COMM_WORLD);
    }
    MPI_Status status;
    int got = -1;
    MPI_Recv(bytes, longest, MPI_BYTE, peer, i, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (got != count) fail("size");
    for (int k = 0; k < count; k++) {
      if (bytes[k] != (unsigned char)(k * 7 + i)) fail("payload");
    }
    if (rank % 2 == 1) MPI_Send(bytes, count, MPI_BYTE, peer, i, MPI_COMM_WORLD);
  }
  free(bytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ping_pong(rank, size);
  int mine = rank + 1, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size * (size + 1) / 2) fail("sum");
  const double until = MPI_Wtime() + 1e-5;
  while (MPI_Wtime() < until) {
  }
  /* A loop on a test. */
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int flag = 0, token = -1;
  MPI_Request request;
  MPI_Irecv(&token, 1, MPI_INT, before, rounds, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, next, rounds, MPI_COMM_WORLD);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  if (token != before) fail("token");
  if (rank == 0) printf("virtual %.9f s\n", MPI_Wtime());
  MPI_Finalize();
  return 0;
}
