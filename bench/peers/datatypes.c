/* Data that are not contiguous: MPI_Pack of 256 KiB as a vector, a subarray and indexed blocks,
 * each beside a loop by hand; and half a round trip of vectors of 64 KiB and 1 MiB. */
#include "bench/peers/figure.h"

enum { kDoubles = 1 << 15, kRows = 128, kColumns = kDoubles / kRows, kGap = 32, kBlock = 16 };

static double* from;
static double* packed;

/* Every second double. */
static void vector_by_hand(void) {
  for (long i = 0; i < kDoubles; ++i) packed[i] = from[2 * i];
}
/* The middle of a matrix. */
static void subarray_by_hand(void) {
  for (long row = 0; row < kRows; ++row) {
    for (long column = 0; column < kColumns; ++column) {
      packed[row * kColumns + column] = from[(row + kGap) * (kColumns + 2 * kGap) + kGap + column];
    }
  }
}
/* Blocks of 16 doubles, each a little further from the last. */
static long place_of_block(long block) { return block * (kBlock + 8) + block % 5; }
static void indexed_by_hand(void) {
  for (long block = 0; block < kDoubles / kBlock; ++block) {
    const double* source = from + place_of_block(block);
    for (long i = 0; i < kBlock; ++i) packed[block * kBlock + i] = source[i];
  }
}

static MPI_Datatype make_indexed(void) {
  enum { kBlocks = kDoubles / kBlock };
  static int places[kBlocks];
  MPI_Datatype made;
  for (long block = 0; block < kBlocks; ++block) places[block] = (int)place_of_block(block);
  MPI_Type_create_indexed_block(kBlocks, kBlock, places, MPI_DOUBLE, &made);
  return made;
}

static MPI_Datatype type;
static void pack(void) {
  int position = 0;
  MPI_Pack(from, 1, type, packed, kDoubles * (int)sizeof(double), &position, MPI_COMM_SELF);
}

static double time_of(void (*call)(void)) {
  enum { kTimes = 200 };
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < kTimes; ++i) {
      call();
      __asm__ volatile("" ::: "memory");
    }
    const double elapsed = (MPI_Wtime() - begin) / kTimes;
    if (elapsed < best) best = elapsed;
  }
  return best;
}

static void measure_pack(const char* name, MPI_Datatype made, void (*by_hand)(void), int rank) {
  char hand[64];
  type = made;
  MPI_Type_commit(&type);
  by_hand();
  double sum = 0;
  for (long i = 0; i < kDoubles; ++i) sum += packed[i] * (double)(i + 1);
  memset(packed, 0, kDoubles * sizeof(double));
  pack();
  for (long i = 0; i < kDoubles; ++i) sum -= packed[i] * (double)(i + 1);
  if (sum != 0) {
    fprintf(stderr, "%s: MPI_Pack and the loop do not agree\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  snprintf(hand, sizeof hand, "%s_by_hand", name);
  const double ours = time_of(pack);
  const double theirs = time_of(by_hand);
  if (rank == 0) {
    print_figure(name, kDoubles * (long)sizeof(double), ours * 1e6, "us");
    print_figure(hand, kDoubles * (long)sizeof(double), theirs * 1e6, "us");
  }
  MPI_Type_free(&type);
}

static double round_trips(int rank, MPI_Datatype vector, long count) {
  const double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (rank == 0) {
      MPI_Send(from, 1, vector, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(from, 1, vector, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(from, 1, vector, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(from, 1, vector, 0, 0, MPI_COMM_WORLD);
    }
  }
  return MPI_Wtime() - begin;
}

static void measure_round_trip(int rank, int doubles) {
  MPI_Datatype vector;
  MPI_Type_vector(doubles, 1, 2, MPI_DOUBLE, &vector);
  MPI_Type_commit(&vector);
  const long tried = 20;
  round_trips(rank, vector, tried);
  double elapsed = round_trips(rank, vector, tried);
  const long count = repetitions(elapsed, tried, 0.1, 20, 20000);
  elapsed = round_trips(rank, vector, count);
  if (rank == 0) {
    print_figure("latency_vector", doubles * (long)sizeof(double),
                 elapsed / (double)count / 2 * 1e6, "us");
  }
  MPI_Type_free(&vector);
}

int main(int argc, char** argv) {
  enum { kLargest = 1 << 17 };
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  from = (double*)make_buffer(2 * kLargest * sizeof(double));
  packed = (double*)make_buffer(kDoubles * sizeof(double));
  for (long i = 0; i < 2 * kLargest; ++i) from[i] = (double)(i % 1000);
  MPI_Datatype made;
  MPI_Type_vector(kDoubles, 1, 2, MPI_DOUBLE, &made);
  measure_pack("pack_vector", made, vector_by_hand, rank);
  const int sizes[] = {kRows + 2 * kGap, kColumns + 2 * kGap};
  const int inner[] = {kRows, kColumns};
  const int starts[] = {kGap, kGap};
  MPI_Type_create_subarray(2, sizes, inner, starts, MPI_ORDER_C, MPI_DOUBLE, &made);
  measure_pack("pack_subarray", made, subarray_by_hand, rank);
  measure_pack("pack_indexed", make_indexed(), indexed_by_hand, rank);
  measure_round_trip(rank, 1 << 13);
  measure_round_trip(rank, kLargest);
  free(packed);
  free(from);
  MPI_Finalize();
  return 0;
}
