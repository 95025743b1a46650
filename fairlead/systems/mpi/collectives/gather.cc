#include <algorithm>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/node_blocks.h"
#include "fairlead/systems/mpi/collectives/node_tree.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {
namespace {

// The blocks of nodes first .. first + count lie one after the other in `packed`, and in rank order
// in `all`: at most two runs.
template <class Group>
void unpack(Group& group, const Tree& tree, int first, int count, const std::byte* packed,
            void* all, std::uint64_t block) {
  const int start = tree.rank_of(first);
  const auto run = static_cast<std::uint64_t>(std::min(count, tree.size - start)) * block;
  const auto total = static_cast<std::uint64_t>(count) * block;
  group.copy(at(all, static_cast<std::uint64_t>(start) * block), packed, run);
  if (total > run) group.copy(all, packed + run, total - run);
}

template <class Group>
void gather_straight(Group& group, const void* own, void* all, std::uint64_t block, int root) {
  if (group.rank() != root) {
    group.send(root, own, block);
    return;
  }
  for (int i = 1; i < group.size(); ++i) {
    const int from = (root + i) % group.size();
    group.receive(from, at(all, static_cast<std::uint64_t>(from) * block), block);
  }
}

// Up the tree. Member i counted from the root has the bytes begin_of(i) to begin_of(i + 1); `held`
// has room for those of this member and all below it, and begins with its own.
// `take(i, count, packed)`, at the root: the bytes of `count` members from the i-th on have come.
template <class Group, class Begin, class Take>
void gather_up(Group& group, const Tree& tree, std::byte* held, Begin&& begin_of, Take&& take) {
  const auto bytes = [&](int from, int count) { return begin_of(from + count) - begin_of(from); };
  const int own = tree.relative;
  for (int step = 1; step < tree.limit() && own + step < tree.size; step *= 2) {
    const int count = tree.subtree(step);
    std::byte* const place = held + bytes(own, step);
    group.receive(tree.rank_of(own + step), place, bytes(own + step, count));
    if (tree.is_root()) take(step, count, place);
  }
  if (!tree.is_root()) group.send(tree.parent(), held, bytes(own, tree.below()));
}

template <class Group>
void gather_tree(Group& group, const void* own, void* all, std::uint64_t block, int root) {
  const Tree tree(group.rank(), group.size(), root);
  typename Group::Memory held(group, static_cast<std::uint64_t>(tree.below()) * block);
  if (!tree.is_root()) group.copy(held.data(), own, block);
  gather_up(
      group, tree, held.data(), [block](int i) { return static_cast<std::uint64_t>(i) * block; },
      [&](int first, int count, const std::byte* packed) {
        unpack(group, tree, first, count, packed, all, block);
      });
}

// In each node to one member, and from these to the root, which is that member of its own node.
template <class Group>
void gather_in_levels(Group& group, const CommNodes& nodes, const void* own, void* all,
                      std::uint64_t block, int root) {
  const NodeTree level(nodes, root);
  const NodeBlocks blocks(nodes, level.tree.root, block);
  const std::uint64_t begin = blocks.begin_of(level.tree.relative);
  const int below = level.heads() ? level.tree.below() : 0;
  typename Group::Memory held(group, blocks.begin_of(level.tree.relative + below) - begin);
  Subgroup<Group> here = in_node(group, nodes);
  gather_flat(here, own, held.data(), block, level.head_place);
  if (!level.heads()) return;
  if (group.rank() == root) blocks.unpack(group, 0, 1, held.data(), all);
  Subgroup<Group> heads = level.heads_of(group);
  gather_up(
      heads, level.tree, held.data(), [&](int i) { return blocks.begin_of(i); },
      [&](int first, int count, const std::byte* packed) {
        blocks.unpack(group, first, count, packed, all);
      });
}

template <class Group>
void gather_by_messages(Group& group, const void* own, void* all, std::uint64_t block, int root) {
  const CommNodes* const nodes = group.nodes();
  if (choose_gather(block, group.size(), spread_of(nodes)) != Algorithm::levels) {
    return gather_flat(group, own, all, block, root);
  }
  const bool in_place = own == nullptr;
  gather_in_levels(group, *nodes,
                   in_place ? at(all, block * static_cast<std::uint64_t>(root)) : own, all, block,
                   root);
}

}  // namespace

template <class Group>
void gather_flat(Group& group, const void* own, void* all, std::uint64_t block, int root) {
  if (group.rank() == root && own != nullptr && block != 0) {
    group.copy(at(all, static_cast<std::uint64_t>(root) * block), own, block);
  }
  if (group.size() == 1) return;
  if (choose_gather(block, group.size(), NodeSpread{}) == Algorithm::straight) {
    gather_straight(group, own, all, block, root);
  } else {
    gather_tree(group, own, all, block, root);
  }
}

template void gather_flat(Subgroup<GroupCall>&, const void*, void*, std::uint64_t, int);
template void gather_flat(Subgroup<Recorder>&, const void*, void*, std::uint64_t, int);

void gather(Process& process, Comm& comm, const char* call, const void* own, void* all,
            std::uint64_t block, int root) {
  GroupCall group(process, comm, CollectiveKind::gather, call);
  gather_by_messages(group, own, all, block, root);
}

void record_gather(Recorder& group, const void* own, void* all, std::uint64_t block, int root) {
  gather_by_messages(group, own, all, block, root);
}

}  // namespace fairlead::mpi
