#include "fairlead/systems/mpi/collectives/by_messages.h"

#include <algorithm>
#include <type_traits>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {

template <class Group>
void reduce_tree(Group& group, const Operand& operand, std::byte* sum) {
  const std::uint64_t bytes = operand.bytes();
  const Tree tree(group.rank(), group.size(), 0);
  typename Group::Memory arrived(group, bytes);
  for (int step = 1; step < tree.limit(); step *= 2) {
    if (tree.relative + step >= tree.size) break;
    group.receive(tree.relative + step, arrived.data(), bytes);
    group.combine(operand, sum, arrived.data(), sum, operand.count);
  }
  if (!tree.is_root()) group.send(tree.parent(), sum, bytes);
}

template <class Group>
void bcast_binomial(Group& group, void* buffer, std::uint64_t size, int root) {
  const Tree tree(group.rank(), group.size(), root);
  if (!tree.is_root()) group.receive(tree.parent(), buffer, size);
  for (int step = tree.limit() / 2; step > 0; step /= 2) {
    if (tree.relative + step < tree.size) {
      group.send(tree.rank_of(tree.relative + step), buffer, size);
    }
  }
}

template <class Group>
void bcast_binary(Group& group, void* buffer, std::uint64_t size, int root) {
  const Tree tree(group.rank(), group.size(), root);
  if (!tree.is_root()) group.receive(tree.rank_of((tree.relative - 1) / 2), buffer, size);
  for (int child = 2 * tree.relative + 1; child <= 2 * tree.relative + 2; ++child) {
    if (child < tree.size) group.send(tree.rank_of(child), buffer, size);
  }
}

namespace {

// In blocks of the device's. Those of a root come in order.
void bcast_multicast(GroupCall& group, void* buffer, std::uint64_t size, int root) {
  const std::uint64_t block = group.broadcast_max();
  std::uint64_t begin = 0;
  do {
    const std::uint64_t part = std::min(block, size - begin);
    if (group.rank() == root) {
      group.broadcast(at(buffer, begin), part);
    } else {
      group.receive_broadcast(root, at(buffer, begin), part);
    }
    begin += part;
  } while (begin < size);
}

}  // namespace

template <class Group>
void bcast_as_told(Group& group, void* buffer, std::uint64_t size, int root) {
  const BcastWay way = group.process().bcast_way;
  // The device's message to all has an order of its own, but no tag to be told apart by.
  if constexpr (std::is_same_v<Group, GroupCall>) {
    if (group.multicasts()) {
      return bcast_multicast(group, buffer, size, root);
    }
  }
  if (way == BcastWay::binary) {
    bcast_binary(group, buffer, size, root);
  } else {
    bcast_binomial(group, buffer, size, root);
  }
}

template <class Group>
void reduce_to_first(Group& group, const Operand& operand, std::byte* sum) {
  const CommNodes* const nodes = group.nodes();
  const BcastWay way = group.process().bcast_way;
  if (choose_reduce(way, operand.commutes(), spread_of(nodes)) == Algorithm::binomial) {
    return reduce_tree(group, operand, sum);
  }
  Subgroup<Group> here = in_node(group, *nodes);
  reduce_tree(here, operand, sum);
  if (!nodes->leads()) return;
  Subgroup<Group> leaders = among_leaders(group, *nodes);
  reduce_tree(leaders, operand, sum);
}

template void reduce_tree(GroupCall&, const Operand&, std::byte*);
template void reduce_tree(Recorder&, const Operand&, std::byte*);
template void reduce_tree(Subgroup<GroupCall>&, const Operand&, std::byte*);
template void reduce_tree(Subgroup<Recorder>&, const Operand&, std::byte*);
template void reduce_to_first(GroupCall&, const Operand&, std::byte*);
template void reduce_to_first(Recorder&, const Operand&, std::byte*);
template void bcast_binomial(GroupCall&, void*, std::uint64_t, int);
template void bcast_binomial(Recorder&, void*, std::uint64_t, int);
template void bcast_binomial(Subgroup<GroupCall>&, void*, std::uint64_t, int);
template void bcast_binomial(Subgroup<Recorder>&, void*, std::uint64_t, int);
template void bcast_as_told(GroupCall&, void*, std::uint64_t, int);
template void bcast_as_told(Recorder&, void*, std::uint64_t, int);

}  // namespace fairlead::mpi
