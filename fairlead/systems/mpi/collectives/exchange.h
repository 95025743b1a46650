// Messages of one collective straight between its members, and the collectives of two groups (an
// intercommunicator's), as steps of a schedule.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {

// One message: the other member, and the bytes, which a receive writes.
struct Leg {
  int member;
  void* at;
  std::uint64_t size;
};

// All receives are there before the first send, so that no order of the members can lock. Messages
// of a pair meet in the order in which each of the two has them. Empty blocks take a message, too:
// members that do not agree on which are empty are told.
void record_exchange(Recorder& group, const std::vector<Leg>& receives,
                     const std::vector<Leg>& sends);

// Where the two groups stand among the members of both (Comm::both): the first member's number and
// how many there are.
struct TwoGroups {
  int rank;  // of this member in its group
  int local;
  int locals;
  int remote;
  int remotes;

  int remote_member(int r) const { return remote + r; }
};

// MPI 5.0, section 6.2.3. A root's group has MPI_ROOT as `root` at the root and MPI_PROC_NULL
// elsewhere; the other group the root's rank.
void record_bcast_between(Recorder& group, const TwoGroups& of, void* buffer, std::uint64_t size,
                          int root);
// The other group's vectors combined, to the root. `own` in the other group, `result` at the root.
void record_reduce_between(Recorder& group, const TwoGroups& of, const void* own, void* result,
                           const Operand& operand, int root);
// The other group's vectors combined, to every member.
void record_allreduce_between(Recorder& group, const TwoGroups& of, const void* own, void* result,
                              const Operand& operand);
// The other group's vectors combined; part i of them, counts[i] elements, to member i of this one.
void record_reduce_scatter_between(Recorder& group, const TwoGroups& of, const void* own,
                                   void* result, const Operand& operand, const Counts& counts);

}  // namespace fairlead::mpi
