// What several collective calls are made of, on GroupCall, on Recorder and on parts of either
// (subgroup.h). Each is one rank's part; the members call it together.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {

// Combines the members' `sum` into that of member 0, up a binomial tree; those of the others are
// used up.
template <class Group>
void reduce_tree(Group& group, const Operand& operand, std::byte* sum);

// As above, in each node first where the order of the operands allows it.
template <class Group>
void reduce_to_first(Group& group, const Operand& operand, std::byte* sum);

template <class Group>
void bcast_binomial(Group& group, void* buffer, std::uint64_t size, int root);
// Member i counted from the root sends to 2 i + 1 and 2 i + 2.
template <class Group>
void bcast_binary(Group& group, void* buffer, std::uint64_t size, int root);
// As the job's options say (job_options.h), which is not automatic; by messages down a binomial
// tree where the device's message to all would reach ranks that are no members.
template <class Group>
void bcast_as_told(Group& group, void* buffer, std::uint64_t size, int root);

// `block` bytes of each to the root, and from the root to each, as if every member had a node of
// its own. `own` nullptr at the root: its block is in place already.
template <class Group>
void gather_flat(Group& group, const void* own, void* all, std::uint64_t block, int root);
template <class Group>
void scatter_flat(Group& group, const void* all, void* own, std::uint64_t block, int root);

}  // namespace fairlead::mpi
