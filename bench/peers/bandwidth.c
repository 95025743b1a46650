/* Bytes per second from rank 0 to rank 1, windows of 16 non-blocking calls. Two figures: one
 * buffer reused and never looked at (what most published numbers are), and a buffer per message
 * that the sender writes before and the receiver reads after, the time of both counted. */
#include "bench/peers/figure.h"

enum { kWindow = 16, kBytesMax = 1 << 20 };

static uint64_t sum_of(const char* buffer, int bytes) {
  uint64_t sum = 0;
  const uint64_t* words = (const uint64_t*)(const void*)buffer;
  for (int i = 0; i < bytes / 8; ++i) sum += words[i];
  return sum;
}

static void send_window(char* buffers, int bytes, int touched, long round) {
  MPI_Request requests[kWindow];
  char answer = 0;
  for (int w = 0; w < kWindow; ++w) {
    char* buffer = touched ? buffers + (size_t)w * kBytesMax : buffers;
    if (touched) memset(buffer, (int)(round & 0x7f), (size_t)bytes);
    MPI_Isend(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[w]);
  }
  MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  MPI_Recv(&answer, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static uint64_t receive_window(char* buffers, int bytes, int touched) {
  MPI_Request requests[kWindow];
  char answer = 0;
  uint64_t sum = 0;
  for (int w = 0; w < kWindow; ++w) {
    char* buffer = touched ? buffers + (size_t)w * kBytesMax : buffers;
    MPI_Irecv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[w]);
  }
  for (int w = 0; w < kWindow; ++w) {
    MPI_Wait(&requests[w], MPI_STATUS_IGNORE);
    if (touched) sum += sum_of(buffers + (size_t)w * kBytesMax, bytes);
  }
  MPI_Send(&answer, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  return sum;
}

static double windows(int rank, char* buffers, int bytes, int touched, long count) {
  double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (rank == 0) {
      send_window(buffers, bytes, touched, i);
    } else {
      uint64_t sum = receive_window(buffers, bytes, touched);
      uint64_t byte = (uint64_t)(i & 0x7f);
      if (touched &&
          sum != (uint64_t)kWindow * ((uint64_t)bytes / 8) * (byte * 0x0101010101010101u)) {
        fprintf(stderr, "bandwidth: wrong data in round %ld\n", i);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  static const int kSizes[] = {4096, 65536, 262144, kBytesMax};
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffers = make_buffer((size_t)kWindow * kBytesMax);
  for (int touched = 0; touched < 2; ++touched) {
    for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; ++s) {
      windows(rank, buffers, kSizes[s], touched, 2);
      double elapsed = windows(rank, buffers, kSizes[s], touched, 4);
      long count = repetitions(elapsed, 4, 0.1, 4, 20000);
      elapsed = windows(rank, buffers, kSizes[s], touched, count);
      double bytes = (double)count * kWindow * kSizes[s];
      if (rank == 0) {
        print_figure(touched ? "bandwidth_touched" : "bandwidth", kSizes[s], bytes / elapsed / 1e6,
                     "MB/s");
      }
    }
  }
  free(buffers);
  MPI_Finalize();
  return 0;
}
