// Reductions and scans of large vectors on one node: each member combines its part of all vectors,
// which it reads from their owners' memory, and writes it into the results there. Nobody but that
// member touches this part of a vector or of a result, so that they may be the same memory, and
// none waits for another in between: two meetings on the board, and no message.
#pragma once
#include "fairlead/systems/mpi/collectives/direct_call.h"
#include "fairlead/systems/mpi/collectives/large_reduction.h"

namespace fairlead::mpi {

// `direct`: the call in which all have exposed their vectors and results, and met.
void reduce_directly(const LargeReduction& reduction, DirectCall& direct);

// A reduce-scatter likewise: each member combines the part that it gets, `part` of the whole
// vector. `result` is apart from `own`, or the same. False: as scan_directly().
bool reduce_scatter_directly(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                             const void* own, void* result, const Operand& operand, Part part);

// A scan by the same division of the work: each member combines its part of the vectors one after
// the other, and writes what there is before (`exclusive`) or after a member's into its result.
// False: nothing was done, as the vectors are short, their elements longer than a block, or members
// do not reach each other's memory; it is the same for all.
bool scan_directly(Process& process, Comm& comm, const char* call, const void* own, void* result,
                   const Operand& operand, bool exclusive);

}  // namespace fairlead::mpi
