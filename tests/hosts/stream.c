/* Rank 0 sends numbered messages to the last rank for so many seconds, a window at a time; the last
   rank checks their order and bytes, and says how many came and the longest time without one:
     stream SECONDS BYTES  ->  "N messages, 0 wrong, longest pause 12.3 ms" */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWindow = 16, kBytesMax = 1 << 20 };
static char buffers[kWindow][kBytesMax];

static void send_all(int to, double seconds, int bytes) {
  const double begin = MPI_Wtime();
  long number = 0;
  int more = 1, i = 0;
  while (more) {
    MPI_Request sent[kWindow];
    more = MPI_Wtime() - begin < seconds;
    for (i = 0; i < kWindow; ++i, ++number) {
      /* The last one of the last window is the end. */
      const long mark = !more && i == kWindow - 1 ? -number - 1 : number;
      memset(buffers[i], (int)(number & 0x7f), (size_t)bytes);
      memcpy(buffers[i], &mark, sizeof mark);
      MPI_Isend(buffers[i], bytes, MPI_BYTE, to, 3, MPI_COMM_WORLD, &sent[i]);
    }
    for (i = 0; i < kWindow; ++i) MPI_Wait(&sent[i], MPI_STATUS_IGNORE);
  }
}

static int receive_all(int bytes) {
  double last = MPI_Wtime(), longest = 0;
  long number = 0, wrong = 0, mark = 0;
  while (mark >= 0) {
    MPI_Status status;
    int got = 0, i = 0;
    MPI_Recv(buffers[0], kBytesMax, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    memcpy(&mark, buffers[0], sizeof mark);
    wrong += got != bytes || (mark != number && mark != -number - 1);
    for (i = (int)sizeof mark; i < bytes; i += 97) wrong += buffers[0][i] != (number & 0x7f);
    ++number;
    const double now = MPI_Wtime();
    if (now - last > longest) longest = now - last;
    last = now;
  }
  printf("%ld messages, %ld wrong, longest pause %.1f ms\n", number, wrong, longest * 1e3);
  fflush(stdout);
  return wrong != 0;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, code = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || atoi(argv[2]) > kBytesMax || atoi(argv[2]) < (int)sizeof(long)) return 2;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send_all(ranks - 1, atof(argv[1]), atoi(argv[2]));
  if (rank == ranks - 1) code = receive_all(atoi(argv[2]));
  MPI_Finalize();
  return code;
}
