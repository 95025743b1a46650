// Command line of cg, and what a run prints.
#pragma once
#include <cstdint>
#include <optional>

#include "apps/cg/neighbours.h"

namespace cg {

struct Options {
  std::int64_t grid = 64;  // its side; of the Split-C paper: 4096 unknowns
  Matrix matrix = Matrix::grid;
  std::int64_t iterations = 1000;
  double tolerance = 1e-10;
  bool verify = true;
  bool json = false;
};

// What the programs differ in.
struct Front {
  const char* program;
  const char* how;  // values travel
};
constexpr Front kSplitC = {"cg", "in Split-C, by stores"};
constexpr Front kMpi = {"cg_mpi", "by MPI"};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(const Front& front, int argc, char** argv, Options& options);

struct Outcome {
  std::uint32_t ranks;
  double seconds;
  std::int64_t iterations;
  double residual;
};
// By all ranks; `first` prints. Returns the program's exit code.
int report(const Options& options, const Front& front, const Outcome& outcome, bool first);

}  // namespace cg
