// Command line of cg.
#pragma once
#include <cstdint>
#include <optional>

namespace cg {

struct Options {
  std::int64_t grid = 64;  // its side; of the Split-C paper: 4096 unknowns
  std::int64_t iterations = 1000;
  double tolerance = 1e-10;
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace cg
