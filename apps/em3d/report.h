// What a run of em3d prints.
#pragma once
#include <cstdint>

#include "apps/em3d/options.h"

namespace em3d {

struct Outcome {
  std::uint32_t ranks;
  double seconds;  // of the iterations
  std::uint64_t checksum;
  bool good;  // has the sequential bits, or was not verified
};

// By one rank. Returns the program's exit code.
int report(const Options& options, Front front, const Outcome& outcome);

}  // namespace em3d
