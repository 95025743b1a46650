#include <algorithm>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {
namespace {

template <class Group>
void scatter_straight(Group& group, const void* all, void* own, std::uint64_t block, int root) {
  if (group.rank() != root) {
    group.receive(root, own, block);
    return;
  }
  for (int i = 1; i < group.size(); ++i) {
    const int to = (root + i) % group.size();
    group.send(to, at(all, static_cast<std::uint64_t>(to) * block), block);
  }
}

// Every node holds the blocks of its subtree, in node order; the root packs them.
template <class Group>
void scatter_tree(Group& group, const void* all, void* own, std::uint64_t block, int root) {
  const Tree tree(group.rank(), group.size(), root);
  const int below = std::min(tree.limit(), tree.size - tree.relative);
  typename Group::Memory held(group, static_cast<std::uint64_t>(below) * block);
  if (tree.is_root()) {
    const std::uint64_t first = static_cast<std::uint64_t>(root) * block;
    const std::uint64_t run = static_cast<std::uint64_t>(tree.size - root) * block;
    group.copy(held.data(), at(all, first), run);
    if (first != 0) group.copy(held.data() + run, all, first);
  } else {
    group.receive(tree.parent(), held.data(), static_cast<std::uint64_t>(below) * block);
    group.copy(own, held.data(), block);
  }
  for (int step = tree.limit() / 2; step > 0; step /= 2) {
    if (tree.relative + step >= tree.size) continue;
    group.send(tree.rank_of(tree.relative + step),
               held.data() + static_cast<std::uint64_t>(step) * block,
               static_cast<std::uint64_t>(tree.subtree(step)) * block);
  }
}

template <class Group>
void scatter_by_messages(Group& group, const void* all, void* own, std::uint64_t block, int root) {
  if (group.rank() == root && own != nullptr && block != 0) {
    group.copy(own, at(all, static_cast<std::uint64_t>(root) * block), block);
  }
  if (group.size() == 1) return;
  if (choose_gather(block, group.size()) == Algorithm::straight) {
    scatter_straight(group, all, own, block, root);
  } else {
    scatter_tree(group, all, own, block, root);
  }
}

}  // namespace

void scatter(Process& process, Comm& comm, const char* call, const void* all, void* own,
             std::uint64_t block, int root) {
  GroupCall group(process, comm, CollectiveKind::scatter, call);
  scatter_by_messages(group, all, own, block, root);
}

void record_scatter(Recorder& group, const void* all, void* own, std::uint64_t block, int root) {
  scatter_by_messages(group, all, own, block, root);
}

}  // namespace fairlead::mpi
