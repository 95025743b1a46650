// Command line of the SOR program.
#pragma once
#include <cstdint>
#include <optional>

namespace sor {

struct Options {
  // The paper's matrix (LCI paper, section 7).
  std::int64_t rows = 1536;
  std::int64_t columns = 1536;
  // With these the paper's matrix converges after 100 iterations, which is what Table VII's
  // sequential times amount to at one cache line per memory latency.
  double omega = 1.5;
  double tolerance = 2.45e-3;
  std::int64_t iterations_max = 10'000;
  bool overlap = false;
  std::int64_t looks = 0;
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace sor
