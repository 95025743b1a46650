// Reductions of large vectors on one node, without messages. Two ways: the kernel copies from and
// to the members' own vectors (direct_reduction.h); or pieces pass through memory that all
// map (shared_reduction.h). Which is faster depends on the caches that the processors
// share: the first member measures and says on the board which way all take.
#pragma once
#include "fairlead/systems/mpi/collectives/large_reduction.h"

namespace fairlead::mpi {

// The operands are combined in rank order, whatever the root and the way. False: nothing was done,
// as the vectors are short, their elements longer than a piece, or no way is open to all; it is the
// same for all.
bool reduce_without_messages(const LargeReduction& reduction);

}  // namespace fairlead::mpi
