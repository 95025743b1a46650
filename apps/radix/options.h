// Command line of the radix sort.
#pragma once
#include <cstdint>

namespace radix {

// Of the LCI paper, section 7.
constexpr std::int64_t kPaperKeys = 3'000'000;

struct Options {
  std::int64_t keys = 100'000;
  // What the paper leaves open: keys of 31 bits are its "integers" that are not negative.
  std::int64_t key_bits = 31;
  bool verify = false;
  bool json = false;
  bool help = false;
};

extern const char kHelp[];

// nullptr: all well; else the argument that cannot be right.
const char* parse(int argc, char** argv, Options& options);

}  // namespace radix
