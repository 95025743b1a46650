// A call on a stack of the caller's own: that of a translated program is a part of its rank's heap,
// so that other ranks reach its automatic variables.
#pragma once
#include <cstddef>
#include <span>

namespace fairlead::splitc {

// Calls body(argument) on `stack`, which ends (above) with its last byte, and returns what it
// returns. `stack` is the call's until then: 16 KiB at least. body may end the process, but not
// leave by a jump or an exception. Thread: any, one call at a time in a process.
int call_on_stack(std::span<std::byte> stack, int (*body)(void*), void* argument);

}  // namespace fairlead::splitc
