// Brings memory into the cache before it is needed. Where a model's state is larger than the cache
// its events wait for memory; asked for a few events ahead, the waits overlap.
#pragma once
#include <cstddef>

namespace fairlead {

constexpr std::size_t kCacheLine = 64;

// The lines of [from, from + bytes). Any address will do.
inline void prefetch(const void* from, std::size_t bytes = 1) {
  const auto* line = static_cast<const std::byte*>(from);
  for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(line + at, 1);
}

}  // namespace fairlead
