// Reductions of large vectors on one node: each member combines its part of all vectors, which it
// reads from their owners' memory, and writes it into the results there. Nobody but that member
// touches this part of a vector or of a result, so that they may be the same memory, and none waits
// for another in between: two meetings on the board, and no message.
#pragma once
#include "fairlead/systems/mpi/collectives/direct_call.h"
#include "fairlead/systems/mpi/collectives/large_reduction.h"

namespace fairlead::mpi {

// `direct`: the call in which all have exposed their vectors and results, and met.
void reduce_directly(const LargeReduction& reduction, DirectCall& direct);

}  // namespace fairlead::mpi
