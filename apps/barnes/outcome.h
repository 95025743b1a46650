// What a run has computed, and how it is said.
#pragma once
#include <cstdint>

#include "apps/barnes/galaxy.h"
#include "apps/barnes/options.h"

namespace barnes {

// Sums of parts stay exact in a double.
constexpr std::uint64_t kChecksumMask = (std::uint64_t{1} << 40) - 1;

// A body's part of the checksum: made of its position, bit by bit. The checksum is the sum of all
// bodies' under the mask, equal for any number of ranks.
std::uint64_t part_of_checksum(const Body& body);

struct Outcome {
  double seconds = 0;
  std::uint64_t checksum = 0;
  double visits = 0;
  double interactions = 0;
  double error = 0;  // where it was verified
  bool good = true;
};

void print(const char* app, const Options& options, unsigned ranks, const Outcome& outcome);

}  // namespace barnes
