#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/by_network.h"
#include "fairlead/systems/mpi/collectives/reduce_without_messages.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// To rank 0 whatever the root, so that the bits of the result do not depend on the root; from there
// the result goes to the root.
template <class Group>
void reduce_by_messages(Group& group, const void* own, void* result, const Operand& operand,
                        int root) {
  const std::uint64_t bytes = operand.bytes();
  const bool at_root = group.rank() == root;
  typename Group::Memory partial(group, at_root ? 0 : bytes);
  std::byte* const sum = at_root ? static_cast<std::byte*>(result) : partial.data();
  group.copy(sum, own, bytes);
  reduce_to_first(group, operand, sum);
  if (root == 0) return;
  if (group.rank() == 0) group.send(root, sum, bytes);
  if (at_root) group.receive(0, sum, bytes);
}

}  // namespace

void reduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
            const Operand& operand, int root) {
  if (reduce_by_network(process, comm, call, own, result, operand, root)) return;
  if (reduce_without_messages(
          {process, comm, CollectiveKind::reduce, call, own, result, operand, root})) {
    return;
  }
  GroupCall group(process, comm, CollectiveKind::reduce, call);
  reduce_by_messages(group, own, result, operand, root);
}

void record_reduce(Recorder& group, const void* own, void* result, const Operand& operand,
                   int root) {
  reduce_by_messages(group, own, result, operand, root);
}

}  // namespace fairlead::mpi
