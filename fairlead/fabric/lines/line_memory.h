// What a processor does for memory that other hosts share without coherent caches: what it stored
// must be flushed before others can see it, and what others stored is seen only once the lines that
// it may have in its caches are invalidated.
#pragma once
#include <cstddef>
#include <memory>

#include "fairlead/base/result.h"

namespace fairlead::fabric {

constexpr std::size_t kLineBytes = 64;

// Whole lines, aligned or not: all that the bytes touch. Thread: any.
class LineMemory {
 public:
  virtual ~LineMemory() = default;
  // What was stored there is visible to other hosts, and before what is flushed later.
  virtual void flush(const void* at, std::size_t bytes) = 0;
  // Loads after this see what others have flushed before. Nothing that this host stored there may
  // be unflushed.
  virtual void invalidate(const void* at, std::size_t bytes) = 0;
};

// This processor's caches. Error: it has no instructions for programs to do so.
Result<std::unique_ptr<LineMemory>> processor_lines();

}  // namespace fairlead::fabric
