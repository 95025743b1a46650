// Red-black SOR as the LCI paper runs it (section 7): rows shared out over the ranks, border rows
// exchanged before each half sweep, one-element reduction per iteration to decide on convergence.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "apps/sor/grid.h"
#include "apps/sor/options.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace sor {
namespace {

// A cell update: 5 loads and a store, 4 additions, 2 multiplications, absolute value, maximum,
// and a third of an operation of loop.
constexpr std::uint64_t kOpsPerUpdate = 14;

struct Outcome {
  std::int64_t iterations = 0;
  double change = 0.0;  // largest of the last iteration, over all ranks
};

struct Neighbours {
  int above;
  int below;
};

void declare_work(const Grid& grid, Rows part, Columns stripe) {
  if (fairlead_work == nullptr) return;
  const auto columns = static_cast<std::uint64_t>(grid.columns());
  const auto swept = static_cast<std::uint64_t>(part.end - part.begin) *
                     static_cast<std::uint64_t>(stripe.end - stripe.begin);
  const auto owned = static_cast<std::uint64_t>(grid.own().end - grid.own().begin) * columns;
  // Red and black cells share every cache line, so a half sweep moves all of them.
  fairlead_work(swept / 2 * kOpsPerUpdate, swept * sizeof(double), owned * sizeof(double));
}

double sweep(Grid& grid, Colour colour, Rows part, Columns stripe, double omega) {
  if (part.begin >= part.end || stripe.begin >= stripe.end) return 0.0;
  const double change = grid.half_sweep(colour, part, stripe, omega);
  declare_work(grid, part, stripe);
  return change;
}
double sweep(Grid& grid, Colour colour, Rows part, double omega) {
  return sweep(grid, colour, part, {0, grid.columns()}, omega);
}

double larger(double a, double b) { return a > b ? a : b; }

void exchange(Grid& grid, Neighbours at) {
  const int count = static_cast<int>(grid.columns());
  const Rows own = grid.own();
  MPI_Sendrecv(grid.row(own.begin), count, MPI_DOUBLE, at.above, 0, grid.row(own.end), count,
               MPI_DOUBLE, at.below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(grid.row(own.end - 1), count, MPI_DOUBLE, at.below, 0, grid.row(own.begin - 1),
               count, MPI_DOUBLE, at.above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Half sweep of all own rows; the ghost rows hold the neighbours' latest values before and after.
double step(Grid& grid, Colour colour, Neighbours at, const Options& options) {
  const double change = sweep(grid, colour, grid.own(), options.omega);
  exchange(grid, at);
  return change;
}

// As above, with the exchange under way while the inner rows are computed. Where long messages take
// steps at both ends (MPI's rendezvous), they go on at the looks between stripes of those.
double step_overlapped(Grid& grid, Colour colour, Neighbours at, const Options& options) {
  const double omega = options.omega;
  const int count = static_cast<int>(grid.columns());
  const Rows own = grid.own();
  const std::int64_t last = own.end - 1;
  double change = sweep(grid, colour, {own.begin, own.begin + 1}, omega);
  if (last > own.begin) change = larger(change, sweep(grid, colour, {last, own.end}, omega));
  // The ghost rows are inputs of the border rows alone, which are done: they may be overwritten.
  MPI_Request requests[4];
  MPI_Irecv(grid.row(own.begin - 1), count, MPI_DOUBLE, at.above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(grid.row(own.end), count, MPI_DOUBLE, at.below, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(grid.row(own.begin), count, MPI_DOUBLE, at.above, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(grid.row(last), count, MPI_DOUBLE, at.below, 0, MPI_COMM_WORLD, &requests[3]);
  const Rows inner{own.begin + 1, last};
  const std::int64_t stripes = options.looks + 1;
  for (std::int64_t i = 0; i < stripes; ++i) {
    const Columns stripe{i * grid.columns() / stripes, (i + 1) * grid.columns() / stripes};
    change = larger(change, sweep(grid, colour, inner, stripe, omega));
    int over = 0;
    if (i < options.looks) MPI_Testall(4, requests, &over, MPI_STATUSES_IGNORE);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  return change;
}

Outcome iterate(Grid& grid, Neighbours at, const Options& options) {
  const auto half = options.overlap ? step_overlapped : step;
  Outcome outcome;
  do {
    double change = half(grid, Colour::red, at, options);
    change = larger(change, half(grid, Colour::black, at, options));
    MPI_Allreduce(&change, &outcome.change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    ++outcome.iterations;
  } while (outcome.change > options.tolerance && outcome.iterations < options.iterations_max);
  return outcome;
}

// The sequential run, on rank 0 while the others wait; its work is not declared.
Outcome iterate_alone(Grid& grid, const Options& options) {
  Outcome outcome;
  do {
    const double red = grid.half_sweep(Colour::red, grid.own(), options.omega);
    outcome.change = larger(red, grid.half_sweep(Colour::black, grid.own(), options.omega));
    ++outcome.iterations;
  } while (outcome.change > options.tolerance && outcome.iterations < options.iterations_max);
  return outcome;
}

// On rank 0: true if the ranks' rows and their outcome are bit for bit those of one processor.
bool verify(Grid& grid, const Outcome& outcome, int rank, int ranks, const Options& options) {
  const int count = static_cast<int>(options.columns);
  if (rank != 0) {
    for (std::int64_t i = grid.own().begin; i < grid.own().end; ++i) {
      MPI_Send(grid.row(i), count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
    return true;
  }
  Grid whole({0, options.rows}, options.rows, options.columns);
  const Outcome alone = iterate_alone(whole, options);
  bool same = alone.iterations == outcome.iterations && alone.change == outcome.change;
  std::vector<double> theirs(static_cast<std::size_t>(options.columns));
  const std::size_t row_bytes = theirs.size() * sizeof(double);
  for (int owner = 0; owner < ranks; ++owner) {
    const Rows part = share_of(owner, ranks, options.rows);
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      const double* row = owner == 0 ? grid.row(i) : theirs.data();
      if (owner != 0) {
        MPI_Recv(theirs.data(), count, MPI_DOUBLE, owner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      same = same && std::memcmp(row, whole.row(i), row_bytes) == 0;
    }
  }
  return same;
}

void print(const Options& options, const Outcome& outcome, int ranks, double seconds, bool same) {
  const long long rows = options.rows;
  const long long columns = options.columns;
  const long long iterations = outcome.iterations;
  if (options.json) {
    std::printf(
        "{\"app\":\"sor\",\"rows\":%lld,\"columns\":%lld,\"ranks\":%d,\"overlap\":%s,"
        "\"iterations\":%lld,\"change\":%.17g,\"seconds\":%.9g",
        rows, columns, ranks, options.overlap ? "true" : "false", iterations, outcome.change,
        seconds);
    if (options.verify) std::printf(",\"verified\":%s", same ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("sor %lld x %lld on %d ranks: %lld iterations, last change %.3e, %.6f s\n", rows,
                columns, ranks, iterations, outcome.change, seconds);
    if (options.verify) std::printf("%s\n", same ? "verified: bits of one processor" : "WRONG");
  }
  std::fflush(stdout);
}

// The rank's part, after MPI_Init; answers the exit code.
int run(const Options& options) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > options.rows) {
    if (rank == 0) std::fprintf(stderr, "sor: more ranks than rows; raise --rows\n");
    return 1;
  }
  Grid grid(share_of(rank, ranks, options.rows), options.rows, options.columns);
  const Neighbours at{rank == 0 ? MPI_PROC_NULL : rank - 1,
                      rank == ranks - 1 ? MPI_PROC_NULL : rank + 1};
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const Outcome outcome = iterate(grid, at, options);
  const double seconds = MPI_Wtime() - begin;
  const bool same = !options.verify || verify(grid, outcome, rank, ranks, options);
  if (rank == 0) print(options, outcome, ranks, seconds, same);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace sor

int main(int argc, char** argv) {
  sor::Options options;
  if (const std::optional<int> over = sor::read(argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int exit_code = sor::run(options);
  MPI_Finalize();
  return exit_code;
}
