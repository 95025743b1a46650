/* Collectives where several ranks share a node: from when all ranks call one to when the last has
 * returned. Ranks meet and then sleep to one instant, so that none waits for a late one; medians.
 *
 *   fairlead-mpicc -O2 bench/node_collectives.c -o node_collectives
 *
 *   fairlead run -n 16 --ranks-per-node 4 --on myrinet-p3 --body fiber ./node_collectives \
 *     [dealt] [BYTES...]
 *
 * `dealt`: on a communicator whose ranks are dealt out to one node after the other. BYTES: of a
 * broadcast, of the vector of a reduction, of all blocks that a rank of another call gets or gives;
 * 8 to 256 KiB where none is given.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 1 << 20, kWarm = 8, kTimed = 5, kSizesMax = 32 };
enum { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kGather, kScatter, kAlltoall, kCalls };
static const char* const names[] = {"barrier",   "bcast",  "reduce",  "allreduce",
                                    "allgather", "gather", "scatter", "alltoall"};

/* No variable is global, so that ranks can be fibers of one process. */
typedef struct {
  MPI_Comm comm;
  int size;
  double* in;
  double* out;
} Bench;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static void run(const Bench* of, int call, int bytes) {
  const int count = bytes / (int)sizeof(double);
  const int block = bytes / of->size;
  switch (call) {
    case kBarrier:
      MPI_Barrier(of->comm);
      break;
    case kBcast:
      MPI_Bcast(of->in, count, MPI_DOUBLE, 0, of->comm);
      break;
    case kReduce:
      MPI_Reduce(of->in, of->out, count, MPI_DOUBLE, MPI_SUM, 0, of->comm);
      break;
    case kAllreduce:
      MPI_Allreduce(of->in, of->out, count, MPI_DOUBLE, MPI_SUM, of->comm);
      break;
    case kAllgather:
      MPI_Allgather(of->in, block, MPI_CHAR, of->out, block, MPI_CHAR, of->comm);
      break;
    case kGather:
      MPI_Gather(of->in, block, MPI_CHAR, of->out, block, MPI_CHAR, 0, of->comm);
      break;
    case kScatter:
      MPI_Scatter(of->in, block, MPI_CHAR, of->out, block, MPI_CHAR, 0, of->comm);
      break;
    default:
      MPI_Alltoall(of->in, block, MPI_CHAR, of->out, block, MPI_CHAR, of->comm);
  }
}

static double time_of(const Bench* of, int call, int bytes) {
  double us[kTimed];
  for (int i = 0; i < kWarm + kTimed; ++i) {
    double now = MPI_Wtime();
    double latest;
    double end = 0;
    MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double left = latest + 5e-3 - MPI_Wtime();
    if (left > 0) usleep((unsigned)(left * 1e6));
    const double begin = MPI_Wtime();
    run(of, call, bytes);
    now = MPI_Wtime();
    MPI_Reduce(&now, &end, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (i >= kWarm) us[i - kWarm] = (end - begin) * 1e6;
  }
  qsort(us, kTimed, sizeof us[0], compare);
  return us[kTimed / 2];
}

/* The ranks of all nodes in turn: the first of each, the second of each, ... */
static MPI_Comm dealt_out(int size) {
  MPI_Comm node;
  MPI_Comm made;
  int rank;
  int place;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &place);
  MPI_Comm_free(&node);
  MPI_Comm_split(MPI_COMM_WORLD, 0, place * size + rank, &made);
  return made;
}

int main(int argc, char** argv) {
  int sizes[kSizesMax];
  int given = 0;
  int rank;
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Bench of = {MPI_COMM_WORLD, size, calloc(1, kMost), calloc(1, kMost)};
  for (int i = 1; i < argc && given < kSizesMax; ++i) {
    if (strcmp(argv[i], "dealt") == 0) {
      of.comm = dealt_out(size);
    } else {
      sizes[given] = atoi(argv[i]);
      if (sizes[given] < 8 || sizes[given++] > kMost) MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  if (given == 0) {
    for (int bytes = 8; bytes <= 256 * 1024; bytes *= bytes < 4096 ? 8 : 4) sizes[given++] = bytes;
  }
  const double barrier = time_of(&of, kBarrier, 0);
  if (rank == 0) printf("%9s %8s %10.2f us\n", names[kBarrier], "", barrier);
  for (int call = kBcast; call < kCalls; ++call) {
    for (int i = 0; i < given; ++i) {
      if (call >= kAllgather && sizes[i] < size) continue;
      const double each = time_of(&of, call, sizes[i]);
      if (rank == 0) printf("%9s %8d %10.2f us\n", names[call], sizes[i], each);
    }
  }
  free(of.in);
  free(of.out);
  MPI_Finalize();
  return 0;
}
