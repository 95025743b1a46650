// Collectives that Elanlib has the network or its interfaces do (network.h). choose.h says from how
// many members and up to which sizes that is faster than messages.
//
// Each call: false, nothing was done of it, and messages are to do it; the same on every member.
// The first one on a communicator asks its members, by messages, whether all can.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

bool barrier_by_network(Process& process, Comm& comm, CollectiveKind kind, const char* call);
bool bcast_by_network(Process& process, Comm& comm, const char* call, void* buffer,
                      std::uint64_t size, int root);
// `result` is used at the root only.
bool reduce_by_network(Process& process, Comm& comm, const char* call, const void* own,
                       void* result, const Operand& operand, int root);
bool allreduce_by_network(Process& process, Comm& comm, const char* call, const void* own,
                          void* result, const Operand& operand);

}  // namespace fairlead::mpi
