// memcpy for what fits a cache line: no call, no loop, loads and stores that overlap.
#pragma once
#include <cstddef>
#include <cstring>

namespace fairlead {

constexpr std::size_t kCopySmallMax = 32;

// size <= kCopySmallMax.
inline void copy_small(std::byte* to, const void* from, std::size_t size) {
  const auto* in = static_cast<const std::byte*>(from);
  if (size >= 16) {
    std::memcpy(to, in, 16);
    std::memcpy(to + size - 16, in + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, in, 8);
    if (size != 8) std::memcpy(to + size - 8, in + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, in, 4);
    std::memcpy(to + size - 4, in + size - 4, 4);
  } else {
    for (std::size_t i = 0; i < size; ++i) to[i] = in[i];
  }
}

constexpr std::size_t kCopyLineMax = 64;

// size <= kCopyLineMax.
inline void copy_line(std::byte* to, const void* from, std::size_t size) {
  if (size <= kCopySmallMax) return copy_small(to, from, size);
  const auto* in = static_cast<const std::byte*>(from);
  std::memcpy(to, in, 32);
  std::memcpy(to + size - 32, in + size - 32, 32);
}

}  // namespace fairlead
