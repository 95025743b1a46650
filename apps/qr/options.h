// Command line of the QR program.
#pragma once
#include <cstdint>
#include <optional>

namespace qr {

// The size in section 7 of the LCI paper.
constexpr std::int64_t kPaperSize = 1024;

struct Options {
  std::int64_t n = 256;       // rows and columns
  std::int64_t distinct = 0;  // column j is that of j % distinct; 0: all differ
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace qr
