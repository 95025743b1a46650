#include "fairlead/systems/mpi/collectives/by_messages.h"

#include <algorithm>

#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {

void reduce_tree(GroupCall& group, const Operand& operand, std::byte* sum) {
  const std::uint64_t bytes = operand.bytes();
  const Tree tree(group.rank(), group.size(), 0);
  Scratch arrived(group.process(), bytes);
  for (int step = 1; step < tree.limit(); step *= 2) {
    if (tree.relative + step >= tree.size) break;
    group.receive(tree.relative + step, arrived.data(), bytes);
    group.combine(operand, sum, arrived.data(), sum, operand.count);
  }
  if (!tree.is_root()) group.send(tree.parent(), sum, bytes);
}

void bcast_binomial(GroupCall& group, void* buffer, std::uint64_t size, int root) {
  const Tree tree(group.rank(), group.size(), root);
  if (!tree.is_root()) group.receive(tree.parent(), buffer, size);
  for (int step = tree.limit() / 2; step > 0; step /= 2) {
    if (tree.relative + step < tree.size) {
      group.send(tree.rank_of(tree.relative + step), buffer, size);
    }
  }
}

void bcast_binary(GroupCall& group, void* buffer, std::uint64_t size, int root) {
  const Tree tree(group.rank(), group.size(), root);
  if (!tree.is_root()) group.receive(tree.rank_of((tree.relative - 1) / 2), buffer, size);
  for (int child = 2 * tree.relative + 1; child <= 2 * tree.relative + 2; ++child) {
    if (child < tree.size) group.send(tree.rank_of(child), buffer, size);
  }
}

namespace {

// In blocks of the device's. Those of a root come in order.
void bcast_multicast(GroupCall& group, void* buffer, std::uint64_t size, int root) {
  const std::uint64_t block = group.process().engine().broadcast_max();
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

void bcast_as_told(GroupCall& group, void* buffer, std::uint64_t size, int root) {
  const BcastWay way = group.process().bcast_way;
  if (way == BcastWay::multicast && group.reaches_all()) {
    bcast_multicast(group, buffer, size, root);
  } else if (way == BcastWay::binary) {
    bcast_binary(group, buffer, size, root);
  } else {
    bcast_binomial(group, buffer, size, root);
  }
}

}  // namespace fairlead::mpi
