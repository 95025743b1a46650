// Bytes for tests: no two seeds give the same, and nothing in them repeats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead {

inline std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
  Prng prng(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(prng.next());
  return bytes;
}

}  // namespace fairlead
