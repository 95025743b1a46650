// Command line of leq.
#pragma once
#include <cstdint>
#include <optional>

namespace leq {

// LCI paper, section 7: 1,000 equations. Their coefficients are not in the paper; the dominance,
// which decides on the number of iterations, is guessed.
constexpr std::int64_t kPaperEquations = 1000;
constexpr double kPaperDominance = 1.00315;

struct Options {
  std::int64_t equations = 200;
  double dominance = 1.2;
  double tolerance = 1e-10;
  std::int64_t iterations_max = 100'000;
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace leq
