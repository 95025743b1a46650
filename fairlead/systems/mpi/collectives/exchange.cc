#include "fairlead/systems/mpi/collectives/exchange.h"

#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {
namespace {

// Combines the vectors of this group at its first member, and swaps the result with the other
// group's: `theirs` there is what the other group has.
void swap_reduced(Recorder& group, const TwoGroups& of, const void* own, void* theirs,
                  const Operand& operand) {
  Recorder::Memory ours(group, operand.bytes());
  {
    const Recorder::Part part(group, of.local, of.locals);
    record_reduce(group, own, ours.data(), operand, 0);
  }
  if (of.rank != 0) return;
  const int other = of.remote_member(0);
  group.exchange(other, ours.data(), operand.bytes(), other, theirs, operand.bytes());
}

}  // namespace

void record_exchange(Recorder& group, const std::vector<Leg>& receives,
                     const std::vector<Leg>& sends) {
  std::vector<Recorder::Pending> pending;
  for (const Leg& each : receives) {
    pending.push_back(group.begin_receive(each.member, each.at, each.size));
  }
  for (const Leg& each : sends) {
    pending.push_back(group.begin_send(each.member, each.at, each.size));
  }
  for (Recorder::Pending const each : pending) group.end(each, 0);
}

void record_bcast_between(Recorder& group, const TwoGroups& of, void* buffer, std::uint64_t size,
                          int root) {
  if (root == MPI_PROC_NULL) return;
  if (root == MPI_ROOT) return group.send(of.remote_member(0), buffer, size);
  if (of.rank == 0) group.receive(of.remote_member(root), buffer, size);
  const Recorder::Part part(group, of.local, of.locals);
  record_bcast(group, buffer, size, 0);
}

void record_reduce_between(Recorder& group, const TwoGroups& of, const void* own, void* result,
                           const Operand& operand, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root == MPI_ROOT) return group.receive(of.remote_member(0), result, operand.bytes());
  Recorder::Memory ours(group, operand.bytes());
  {
    const Recorder::Part part(group, of.local, of.locals);
    record_reduce(group, own, ours.data(), operand, 0);
  }
  if (of.rank == 0) group.send(of.remote_member(root), ours.data(), operand.bytes());
}

void record_allreduce_between(Recorder& group, const TwoGroups& of, const void* own, void* result,
                              const Operand& operand) {
  swap_reduced(group, of, own, result, operand);
  const Recorder::Part part(group, of.local, of.locals);
  record_bcast(group, result, operand.bytes(), 0);
}

void record_reduce_scatter_between(Recorder& group, const TwoGroups& of, const void* own,
                                   void* result, const Operand& operand, const Counts& counts) {
  Recorder::Memory theirs(group, of.rank == 0 ? operand.bytes() : 0);
  swap_reduced(group, of, own, theirs.data(), operand);
  const std::uint64_t own_bytes = static_cast<std::uint64_t>(counts[of.rank]) * operand.element;
  if (of.rank != 0) return group.receive(of.local, result, own_bytes);
  group.copy(result, theirs.data(), own_bytes);
  std::vector<Leg> sends;
  std::uint64_t offset = own_bytes;
  for (int i = 1; i < of.locals; ++i) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(counts[i]) * operand.element;
    sends.push_back({of.local + i, at(theirs.data(), offset), bytes});
    offset += bytes;
  }
  record_exchange(group, {}, sends);
}

}  // namespace fairlead::mpi
