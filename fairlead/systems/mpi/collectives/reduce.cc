#include <cstring>

#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/large_reduction.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {

// Binomial tree. The tree is rooted at rank 0 whatever the root, so that the bits of the result do
// not depend on the root; the result then goes to the root.
void reduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
            const Operand& operand, int root) {
  if (reduce_without_messages(
          {process, comm, CollectiveKind::reduce, call, own, result, operand, root})) {
    return;
  }
  GroupCall group(process, comm, CollectiveKind::reduce, call);
  const std::uint64_t bytes = operand.bytes();
  const Tree tree(group.rank(), group.size(), 0);
  const bool at_root = group.rank() == root;
  Scratch partial(group.process(), at_root ? 0 : bytes);
  Scratch arrived(group.process(), bytes);
  std::byte* const sum = at_root ? static_cast<std::byte*>(result) : partial.data();
  if (sum != own && bytes != 0) std::memcpy(sum, own, bytes);
  for (int step = 1; step < tree.limit(); step *= 2) {
    if (tree.relative + step >= tree.size) break;
    group.receive(tree.relative + step, arrived.data(), bytes);
    group.combine(operand, sum, arrived.data(), sum, operand.count);
  }
  if (!tree.is_root()) group.send(tree.parent(), sum, bytes);
  if (root == 0) return;
  if (tree.is_root()) group.send(root, sum, bytes);
  if (at_root) group.receive(0, sum, bytes);
}

}  // namespace fairlead::mpi
