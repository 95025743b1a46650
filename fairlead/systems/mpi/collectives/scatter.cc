#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/node_blocks.h"
#include "fairlead/systems/mpi/collectives/node_tree.h"
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

// Down the tree. Member i counted from the root gets the bytes begin_of(i) to begin_of(i + 1);
// `held` has those of this member and all below it, at the root from the start.
template <class Group, class Begin>
void scatter_down(Group& group, const Tree& tree, std::byte* held, Begin&& begin_of) {
  const auto bytes = [&](int from, int count) { return begin_of(from + count) - begin_of(from); };
  const int own = tree.relative;
  if (!tree.is_root()) group.receive(tree.parent(), held, bytes(own, tree.below()));
  for (int step = tree.limit() / 2; step > 0; step /= 2) {
    if (own + step >= tree.size) continue;
    group.send(tree.rank_of(own + step), held + bytes(own, step),
               bytes(own + step, tree.subtree(step)));
  }
}

template <class Group>
void scatter_tree(Group& group, const void* all, void* own, std::uint64_t block, int root) {
  const Tree tree(group.rank(), group.size(), root);
  typename Group::Memory held(group, static_cast<std::uint64_t>(tree.below()) * block);
  if (tree.is_root()) {
    const std::uint64_t first = static_cast<std::uint64_t>(root) * block;
    const std::uint64_t run = static_cast<std::uint64_t>(tree.size - root) * block;
    group.copy(held.data(), at(all, first), run);
    if (first != 0) group.copy(held.data() + run, all, first);
  }
  scatter_down(group, tree, held.data(),
               [block](int i) { return static_cast<std::uint64_t>(i) * block; });
  if (!tree.is_root()) group.copy(own, held.data(), block);
}

// From the root to one member of each node, and from these to the others of their node. The root is
// that member of its own node.
template <class Group>
void scatter_in_levels(Group& group, const CommNodes& nodes, const void* all, void* own,
                       std::uint64_t block, int root) {
  const NodeTree level(nodes, root);
  const NodeBlocks blocks(nodes, level.tree.root, block);
  const std::uint64_t begin = blocks.begin_of(level.tree.relative);
  const int below = level.heads() ? level.tree.below() : 0;
  typename Group::Memory held(group, blocks.begin_of(level.tree.relative + below) - begin);
  if (level.heads()) {
    if (group.rank() == root) blocks.pack(group, 0, nodes.count(), all, held.data());
    Subgroup<Group> heads = level.heads_of(group);
    scatter_down(heads, level.tree, held.data(), [&](int i) { return blocks.begin_of(i); });
  }
  Subgroup<Group> here = in_node(group, nodes);
  scatter_flat(here, held.data(), own, block, level.head_place);
}

template <class Group>
void scatter_by_messages(Group& group, const void* all, void* own, std::uint64_t block, int root) {
  const CommNodes* const nodes = group.nodes();
  if (choose_gather(block, group.size(), spread_of(nodes)) == Algorithm::levels) {
    scatter_in_levels(group, *nodes, all, own, block, root);
  } else {
    scatter_flat(group, all, own, block, root);
  }
}

}  // namespace

template <class Group>
void scatter_flat(Group& group, const void* all, void* own, std::uint64_t block, int root) {
  if (group.rank() == root && own != nullptr && block != 0) {
    group.copy(own, at(all, static_cast<std::uint64_t>(root) * block), block);
  }
  if (group.size() == 1) return;
  if (choose_gather(block, group.size(), NodeSpread{}) == Algorithm::straight) {
    scatter_straight(group, all, own, block, root);
  } else {
    scatter_tree(group, all, own, block, root);
  }
}

template void scatter_flat(Subgroup<GroupCall>&, const void*, void*, std::uint64_t, int);
template void scatter_flat(Subgroup<Recorder>&, const void*, void*, std::uint64_t, int);

void scatter(Process& process, Comm& comm, const char* call, const void* all, void* own,
             std::uint64_t block, int root) {
  GroupCall group(process, comm, CollectiveKind::scatter, call);
  scatter_by_messages(group, all, own, block, root);
}

void record_scatter(Recorder& group, const void* all, void* own, std::uint64_t block, int root) {
  scatter_by_messages(group, all, own, block, root);
}

}  // namespace fairlead::mpi
