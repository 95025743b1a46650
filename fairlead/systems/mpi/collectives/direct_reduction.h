// Reductions of large vectors on one node: each member combines its part of all vectors, which it
// reads from their owners' memory, and writes it into the results there. Nobody but that member
// touches this part of a vector or of a result, so that they may be the same memory, and none waits
// for another in between: two meetings on the board, and no message.
#pragma once
#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

constexpr int kAllRoots = -1;

// `result` is used at `root` only, or everywhere. The operands are combined in rank order, whatever
// the root. False: nothing was done, as the vectors are short or not all members reach each other's
// memory; it is the same for all.
bool reduce_directly(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                     const void* own, void* result, const Operand& operand, int root);

}  // namespace fairlead::mpi
