#include <algorithm>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
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

template <class Group>
void gather_tree(Group& group, const void* own, void* all, std::uint64_t block, int root) {
  const Tree tree(group.rank(), group.size(), root);
  const int below = std::min(tree.limit(), tree.size - tree.relative);
  typename Group::Memory held(group, static_cast<std::uint64_t>(below) * block);
  if (!tree.is_root()) group.copy(held.data(), own, block);
  for (int step = 1; step < tree.limit() && tree.relative + step < tree.size; step *= 2) {
    const int count = tree.subtree(step);
    std::byte* const place = held.data() + static_cast<std::uint64_t>(step) * block;
    group.receive(tree.rank_of(tree.relative + step), place,
                  static_cast<std::uint64_t>(count) * block);
    if (tree.is_root()) unpack(group, tree, step, count, place, all, block);
  }
  if (!tree.is_root()) {
    group.send(tree.parent(), held.data(), static_cast<std::uint64_t>(below) * block);
  }
}

}  // namespace

template <class Group>
void gather_by_messages(Group& group, const void* own, void* all, std::uint64_t block, int root) {
  if (group.rank() == root && own != nullptr && block != 0) {
    group.copy(at(all, static_cast<std::uint64_t>(root) * block), own, block);
  }
  if (group.size() == 1) return;
  if (choose_gather(block, group.size()) == Algorithm::straight) {
    gather_straight(group, own, all, block, root);
  } else {
    gather_tree(group, own, all, block, root);
  }
}

template void gather_by_messages(Subgroup<GroupCall>&, const void*, void*, std::uint64_t, int);
template void gather_by_messages(Subgroup<Recorder>&, const void*, void*, std::uint64_t, int);

void gather(Process& process, Comm& comm, const char* call, const void* own, void* all,
            std::uint64_t block, int root) {
  GroupCall group(process, comm, CollectiveKind::gather, call);
  gather_by_messages(group, own, all, block, root);
}

void record_gather(Recorder& group, const void* own, void* all, std::uint64_t block, int root) {
  gather_by_messages(group, own, all, block, root);
}

}  // namespace fairlead::mpi
