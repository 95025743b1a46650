// Command line of awari.
#pragma once
#include <cstdint>
#include <optional>

namespace awari {

// LCI paper, section 7: 13 stones.
constexpr std::int64_t kPaperStones = 13;

struct Options {
  std::int64_t stones = 5;
  // Sent at a time to a rank. The paper leaves it open; fitted with the operations of solver.cc.
  std::int64_t updates = 32;
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace awari
