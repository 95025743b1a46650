// What several collective calls are made of. Each is one rank's part; the members call it together.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {

// Combines the members' `sum` into that of member 0, up a binomial tree; those of the others are
// used up.
void reduce_tree(GroupCall& group, const Operand& operand, std::byte* sum);

void bcast_binomial(GroupCall& group, void* buffer, std::uint64_t size, int root);
// Member i counted from the root sends to 2 i + 1 and 2 i + 2.
void bcast_binary(GroupCall& group, void* buffer, std::uint64_t size, int root);
// As the job's options say (job_options.h), which is not automatic; by messages down a binomial
// tree where the device's message to all would reach ranks that are no members.
void bcast_as_told(GroupCall& group, void* buffer, std::uint64_t size, int root);

}  // namespace fairlead::mpi
