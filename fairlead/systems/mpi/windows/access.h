// One-sided access to a member's memory. Arguments are checked by the caller.
//
// Data may lie anywhere at either end. Where this rank reaches the target's memory it is copied
// from place to place, in pieces that are short or none at all. Elsewhere the target's layout is
// walked here: long runs are puts and gets of the Port, short ones go together in messages, which
// the target's processor serves (window_messages.h). No message is packed as a whole.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/windows/combining.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {

// Data at a target: `bytes` from `offset` on, or as `layout` places them from there. In a dynamic
// window offsets are addresses.
struct FarData {
  int target = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  const Layout* layout = nullptr;
};

// Each may return before it is done (flush_here, flush). Layouts are the caller's again when it
// returns. As many bytes at one end as at the other.
void window_put(Process& process, Window& window, const FarData& to, const Data& from,
                const char* call);
void window_get(Process& process, Window& window, const FarData& from, const Data& to,
                const char* call);
// On `count` elements; far.bytes is not looked at.
void window_combine(Process& process, Window& window, const FarData& far, std::uint64_t count,
                    const Combining& what, const Operands& operands, const char* call);

}  // namespace fairlead::mpi
