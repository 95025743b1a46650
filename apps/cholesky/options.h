// Command line of cholesky, and what a run prints.
#pragma once
#include <cstdint>
#include <optional>

namespace cholesky {

struct Options {
  std::int64_t size = 384;
  std::int64_t block = 16;
  bool verify = true;
  bool json = false;
};
// The size in the Split-C paper, section 6.
constexpr std::int64_t kPaperSize = 1536;

// What the programs differ in.
struct Front {
  const char* program;
  const char* how;
};
constexpr Front kSplitC = {"cholesky", "in Split-C"};
constexpr Front kMpi = {"cholesky_mpi", "by MPI"};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(const Front& front, int argc, char** argv, Options& options);

struct Outcome {
  std::uint32_t ranks;
  double seconds;
  std::uint64_t checksum;
  double residual;  // 0 where it was not verified
};
// By all ranks; `first` prints. Returns the program's exit code.
int report(const Options& options, const Front& front, const Outcome& outcome, bool first);

}  // namespace cholesky
