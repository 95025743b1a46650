#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {
namespace {

// The blocks of nodes first .. first + count lie one after the other in `packed`, and in rank order
// in `all`: at most two runs.
void unpack(const Tree& tree, int first, int count, const std::byte* packed, void* all,
            std::uint64_t block) {
  const int start = tree.rank_of(first);
  const auto run = static_cast<std::uint64_t>(std::min(count, tree.size - start)) * block;
  const auto total = static_cast<std::uint64_t>(count) * block;
  std::memcpy(at(all, static_cast<std::uint64_t>(start) * block), packed, run);
  if (total > run) std::memcpy(all, packed + run, total - run);
}

void gather_straight(GroupCall& group, const void* own, void* all, std::uint64_t block, int root) {
  if (group.rank() != root) {
    group.send(root, own, block);
    return;
  }
  for (int i = 1; i < group.size(); ++i) {
    const int from = (root + i) % group.size();
    group.receive(from, at(all, static_cast<std::uint64_t>(from) * block), block);
  }
}

void gather_tree(GroupCall& group, const void* own, void* all, std::uint64_t block, int root) {
  const Tree tree(group.rank(), group.size(), root);
  const int below = std::min(tree.limit(), tree.size - tree.relative);
  Scratch held(group.process(), static_cast<std::uint64_t>(below) * block);
  if (!tree.is_root()) std::memcpy(held.data(), own, block);
  for (int step = 1; step < tree.limit() && tree.relative + step < tree.size; step *= 2) {
    const int count = tree.subtree(step);
    std::byte* const place = held.data() + static_cast<std::uint64_t>(step) * block;
    group.receive(tree.rank_of(tree.relative + step), place,
                  static_cast<std::uint64_t>(count) * block);
    if (tree.is_root()) unpack(tree, step, count, place, all, block);
  }
  if (!tree.is_root()) {
    group.send(tree.parent(), held.data(), static_cast<std::uint64_t>(below) * block);
  }
}

}  // namespace

void gather(Process& process, Comm& comm, const char* call, const void* own, void* all,
            std::uint64_t block, int root) {
  GroupCall group(process, comm, CollectiveKind::gather, call);
  if (group.rank() == root && own != nullptr && block != 0) {
    std::memmove(at(all, static_cast<std::uint64_t>(root) * block), own, block);
  }
  if (group.size() == 1) return;
  if (block == 0 || block > kTreeBlockBytes) {
    gather_straight(group, own, all, block, root);
  } else {
    gather_tree(group, own, all, block, root);
  }
}

}  // namespace fairlead::mpi
