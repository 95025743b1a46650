// What matching costs an MPI message where many wait: receives of one source that are answered in
// reverse, and messages that came before their receives, taken in reverse. For 2 ranks; JSON lines.
// Plain MPI, so that any other MPI's mpicxx builds it as well:
//   fairlead run -n 2 build/release/bin/mpi_matching
#include <algorithm>
#include <cstdio>
#include <vector>

#include <mpi.h>

namespace {

constexpr int kDepths[] = {10, 100, 1000, 10000};
constexpr int kMessages = 20000;  // of each depth, at least

// One round at `depth`; seconds at rank 0, which receives.
double posted_in_reverse(int rank, int depth, MPI_Request* requests, int* numbers) {
  if (rank == 0) {
    for (int i = 0; i < depth; ++i) {
      MPI_Irecv(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
    return MPI_Wtime() - begin;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = depth - 1; i >= 0; --i) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
  return 0;
}

double unexpected_in_reverse(int rank, int depth, int* numbers) {
  if (rank == 0) {
    // What came before this one came before it ends.
    MPI_Recv(nullptr, 0, MPI_INT, 1, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double begin = MPI_Wtime();
    for (int i = depth - 1; i >= 0; --i) {
      MPI_Recv(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const double end = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    return end - begin;
  }
  for (int i = 0; i < depth; ++i) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
  MPI_Send(nullptr, 0, MPI_INT, 0, depth, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

// The fastest round, per message.
template <class Round>
void measure(const char* what, int rank, Round&& round) {
  for (const int depth : kDepths) {
    double best = 1e9;
    for (int i = 0; i < std::max(5, kMessages / depth); ++i) best = std::min(best, round(depth));
    if (rank == 0) {
      std::printf(
          "{\"bench\": \"mpi_matching\", \"what\": \"%s\", \"depth\": %d, "
          "\"us_per_message\": %.3f}\n",
          what, depth, best * 1e6 / depth);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) std::fprintf(stderr, "mpi_matching is for 2 ranks, not %d\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<MPI_Request> requests(10000, MPI_REQUEST_NULL);
  std::vector<int> numbers(10000);
  measure("posted receives answered in reverse", rank, [&](int depth) {
    return posted_in_reverse(rank, depth, requests.data(), numbers.data());
  });
  measure("unexpected messages received in reverse", rank,
          [&](int depth) { return unexpected_in_reverse(rank, depth, numbers.data()); });
  MPI_Finalize();
  return 0;
}
