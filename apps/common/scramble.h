// Numbers that look random and depend on their place alone, so that every rank makes its part of a
// matrix for itself and the matrix is the same for any number of ranks.
#pragma once
#include <cstdint>

namespace apps {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t scramble(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// For the cell in `row` and `column` of the matrix that `seed` names.
inline std::uint64_t scramble(std::uint64_t seed, std::int64_t row, std::int64_t column) {
  return scramble(scramble(seed) ^ (static_cast<std::uint64_t>(row) << 32) ^
                  static_cast<std::uint64_t>(column));
}

}  // namespace apps
