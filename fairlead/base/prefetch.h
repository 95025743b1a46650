// Brings memory into the cache before it is needed. Where a model's state is larger than the cache
// its events wait for memory; asked for a few events ahead, the waits overlap.
#pragma once
#include <cstddef>

namespace fairlead {

constexpr std::size_t kCacheLine = 64;

// The lines of [from, from + bytes), into the second-level cache: of the requests that the first
// level can have under way others need some. Any address will do, but one that is none takes as
// long as a miss.
inline void prefetch(const void* from, std::size_t bytes = 1) {
  const auto* line = static_cast<const std::byte*>(from);
  for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(line + at, 0, 2);
}

// Takes one line from the other processors, so that a store soon to come need not wait for them.
inline void prefetch_to_write(const void* address) {
#if defined(__x86_64__)
  // GCC makes it of __builtin_prefetch only when told of the instruction; all processors take it.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1, 3);
#endif
}

}  // namespace fairlead
