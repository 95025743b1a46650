// Command line of cholesky.
#pragma once
#include <cstdint>
#include <optional>

namespace cholesky {

struct Options {
  std::int64_t size = 384;
  std::int64_t block = 16;
  bool verify = false;
  bool json = false;
};
// The size in the Split-C paper, section 6.
constexpr std::int64_t kPaperSize = 1536;

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace cholesky
