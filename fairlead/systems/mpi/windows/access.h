// One-sided access to a member's memory. Arguments are checked by the caller; `offset` is in bytes,
// or an address in a dynamic window.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {

// Each may return before it is done (flush_here, flush).
void window_put(Process& process, Window& window, int target, std::uint64_t offset,
                const void* from, std::uint64_t bytes, const char* call);
void window_get(Process& process, Window& window, int target, std::uint64_t offset, void* to,
                std::uint64_t bytes, const char* call);
// As Combining::run() has them.
struct Operands {
  const void* own = nullptr;
  const void* compare = nullptr;
  void* former = nullptr;
  std::uint64_t count = 0;
};
void window_combine(Process& process, Window& window, int target, std::uint64_t offset,
                    const Combining& what, const Operands& operands, const char* call);

}  // namespace fairlead::mpi
