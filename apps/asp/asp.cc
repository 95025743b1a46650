// All-pairs shortest paths as the LCI paper runs it (section 7): blocks of rows, step k broadcasts
// row k, with which every rank relaxes its own rows. A rank sends its next row as soon as that is
// ready, before it computes the others, so that the broadcasts of a block of rows overlap with the
// computing and with each other.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "apps/asp/distances.h"
#include "apps/asp/options.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace asp {
namespace {

// Operations of ten cells. One cell is two loads, an addition, a comparison, a branch, at times a
// store, and its share of the loop: 8.4, fitted to the 1.07e9 cells of table VII's two T1.
constexpr std::uint64_t kOpsPerTenCells = 84;

// Declares the work of one row relaxed.
void declare_work(const Distances& mine) {
  if (fairlead_work == nullptr) return;
  const auto cells = static_cast<std::uint64_t>(mine.vertices());
  const auto owned = static_cast<std::uint64_t>(mine.own().end - mine.own().begin);
  fairlead_work(cells * kOpsPerTenCells / 10, cells * sizeof(std::int32_t),
                owned * cells * sizeof(std::int32_t));
}

void look_for_messages() {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

struct Place {
  int rank;
  int ranks;
};

class Solver {
 public:
  Solver(Distances& mine, Place place, bool poll)
      : mine_(mine), place_(place), poll_(poll), via_(static_cast<std::size_t>(mine.vertices())) {}

  void run() {
    const std::int64_t vertices = mine_.vertices();
    if (is_mine(0)) send(0);
    for (std::int64_t k = 0; k < vertices; ++k) {
      const std::int32_t* const via = is_mine(k) ? mine_.row(k) : receive(k);
      // The next row first, if it is this rank's: the others wait for it.
      const bool sends_next = k + 1 < vertices && is_mine(k + 1);
      if (sends_next) {
        relax(k + 1, k, via);
        send(k + 1);
      }
      for (std::int64_t i = mine_.own().begin; i < mine_.own().end; ++i) {
        if (sends_next && i == k + 1) continue;
        relax(i, k, via);
        if (poll_) look_for_messages();
      }
    }
  }

 private:
  bool is_mine(std::int64_t row) const { return mine_.own().begin <= row && row < mine_.own().end; }
  void relax(std::int64_t row, std::int64_t k, const std::int32_t* via) {
    mine_.relax(row, k, via);
    declare_work(mine_);
  }
  void send(std::int64_t row) {
    MPI_Bcast(mine_.row(row), static_cast<int>(mine_.vertices()), MPI_INT32_T, place_.rank,
              MPI_COMM_WORLD);
  }
  const std::int32_t* receive(std::int64_t row) {
    MPI_Bcast(via_.data(), static_cast<int>(mine_.vertices()), MPI_INT32_T,
              apps::owner_of(row, place_.ranks, mine_.vertices()), MPI_COMM_WORLD);
    return via_.data();
  }

  Distances& mine_;
  Place place_;
  bool poll_;
  std::vector<std::int32_t> via_;
};

// Sum of the lengths of all paths, at rank 0.
std::int64_t sum_of_paths(Distances& mine) {
  std::int64_t own = 0;
  for (std::int64_t i = mine.own().begin; i < mine.own().end; ++i) {
    for (std::int64_t j = 0; j < mine.vertices(); ++j) own += mine.row(i)[j];
  }
  std::int64_t all = 0;
  MPI_Reduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

// The sequential algorithm, in the textbook's words; its work is not declared.
std::vector<std::int32_t> solve_alone(std::int64_t vertices) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(vertices * vertices));
  const auto at = [&](std::int64_t i, std::int64_t j) -> std::int32_t& {
    return all[static_cast<std::size_t>(i * vertices + j)];
  };
  for (std::int64_t i = 0; i < vertices; ++i) {
    for (std::int64_t j = 0; j < vertices; ++j) at(i, j) = edge(i, j, vertices);
  }
  for (std::int64_t k = 0; k < vertices; ++k) {
    for (std::int64_t i = 0; i < vertices; ++i) {
      for (std::int64_t j = 0; j < vertices; ++j) {
        if (at(i, k) + at(k, j) < at(i, j)) at(i, j) = at(i, k) + at(k, j);
      }
    }
  }
  return all;
}

// On rank 0: true if every rank's rows are those of the sequential algorithm.
bool verify(Distances& mine, Place place) {
  const int count = static_cast<int>(mine.vertices());
  if (place.rank != 0) {
    for (std::int64_t i = mine.own().begin; i < mine.own().end; ++i) {
      MPI_Send(mine.row(i), count, MPI_INT32_T, 0, 1, MPI_COMM_WORLD);
    }
    return true;
  }
  const std::vector<std::int32_t> all = solve_alone(mine.vertices());
  std::vector<std::int32_t> theirs(static_cast<std::size_t>(count));
  bool same = true;
  for (std::int64_t i = 0; i < mine.vertices(); ++i) {
    const int owner = apps::owner_of(i, place.ranks, mine.vertices());
    if (owner != 0) {
      MPI_Recv(theirs.data(), count, MPI_INT32_T, owner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const std::int32_t* row = owner == 0 ? mine.row(i) : theirs.data();
    same = same && std::memcmp(row, all.data() + i * count, theirs.size() * sizeof(theirs[0])) == 0;
  }
  return same;
}

void print(const Options& options, std::int64_t sum, int ranks, double seconds, bool same) {
  const long long vertices = options.vertices;
  if (options.json) {
    std::printf(
        "{\"app\":\"asp\",\"vertices\":%lld,\"ranks\":%d,\"poll\":%s,\"sum\":%lld,"
        "\"seconds\":%.9g",
        vertices, ranks, options.poll ? "true" : "false", static_cast<long long>(sum), seconds);
    if (options.verify) std::printf(",\"verified\":%s", same ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("asp: %lld vertices on %d ranks, paths of %lld in all, %.6f s\n", vertices, ranks,
                static_cast<long long>(sum), seconds);
    if (options.verify) std::printf("%s\n", same ? "verified: the sequential paths" : "WRONG");
  }
  std::fflush(stdout);
}

// The rank's part, after MPI_Init; the exit code.
int run(const Options& options) {
  Place place{0, 1};
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
  if (place.ranks > options.vertices) {
    if (place.rank == 0) std::fprintf(stderr, "asp: more ranks than rows; raise --vertices\n");
    return 1;
  }
  Distances mine(apps::share_of(place.rank, place.ranks, options.vertices), options.vertices);
  Solver solver(mine, place, options.poll);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  solver.run();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  const std::int64_t sum = sum_of_paths(mine);
  const bool same = !options.verify || verify(mine, place);
  if (place.rank == 0) print(options, sum, place.ranks, seconds, same);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace asp

int main(int argc, char** argv) {
  asp::Options options;
  if (const std::optional<int> over = asp::read(argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int exit_code = asp::run(options);
  MPI_Finalize();
  return exit_code;
}
