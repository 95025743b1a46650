// The program with PARMACS' macros that this process runs (parmacs.cc), for the calls of the C
// library that it makes (parmacs_calls.cc).
#pragma once
#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {

// nullptr: it has not begun, or has ended.
Dsm* dsm_of_program();
// Whose memory its processes have in common; nullptr: each has its own, or as above.
Core* memory_of_threads();

}  // namespace fairlead::dsm
