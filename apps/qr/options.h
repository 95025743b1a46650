// Command line of the QR program.
#pragma once
#include <cstdint>

namespace qr {

// Of the LCI paper, section 7.
constexpr std::int64_t kPaperSize = 1024;

struct Options {
  std::int64_t n = 256;       // rows and columns
  std::int64_t distinct = 0;  // column j is that of j % distinct; 0: all differ
  bool verify = false;
  bool json = false;
  bool help = false;
};

extern const char kHelp[];

// nullptr: all well; else the argument that cannot be right.
const char* parse(int argc, char** argv, Options& options);

}  // namespace qr
