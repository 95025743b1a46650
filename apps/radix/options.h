// Command line of the radix sort.
#pragma once
#include <cstdint>
#include <optional>

namespace radix {

// The size in section 7 of the LCI paper.
constexpr std::int64_t kPaperKeys = 3'000'000;

struct Options {
  std::int64_t keys = 100'000;
  // What the paper leaves open: keys of 31 bits are its "integers" that are not negative.
  std::int64_t key_bits = 31;
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace radix
