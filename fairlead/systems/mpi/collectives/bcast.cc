#include <algorithm>
#include <type_traits>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/by_network.h"
#include "fairlead/systems/mpi/collectives/direct_call.h"
#include "fairlead/systems/mpi/collectives/node_tree.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {
namespace {

// The message in P pieces: piece i goes down the tree to node i, then every node passes the pieces
// it has around the ring (van de Geijn).
template <class Group>
void bcast_split(Group& group, void* buffer, std::uint64_t size, int root) {
  const Tree tree(group.rank(), group.size(), root);
  const auto nodes = static_cast<std::uint64_t>(tree.size);
  const std::uint64_t piece = (size + nodes - 1) / nodes;
  const auto begin_of = [&](int node) {
    return std::min(size, static_cast<std::uint64_t>(node) * piece);
  };
  const auto bytes_of_nodes = [&](int first, int count) {
    return begin_of(first + count) - begin_of(first);
  };
  if (!tree.is_root()) {
    group.receive(tree.parent(), at(buffer, begin_of(tree.relative)),
                  bytes_of_nodes(tree.relative, tree.below()));
  }
  for (int step = tree.limit() / 2; step > 0; step /= 2) {
    const int child = tree.relative + step;
    if (child >= tree.size) continue;
    group.send(tree.rank_of(child), at(buffer, begin_of(child)),
               bytes_of_nodes(child, tree.subtree(step)));
  }
  const int to = tree.rank_of(tree.relative + 1);
  const int from = tree.rank_of(tree.relative - 1 + tree.size);
  for (int i = 0; i < tree.size - 1; ++i) {
    const int out = (tree.relative - i + tree.size) % tree.size;
    const int in = (tree.relative - i - 1 + tree.size) % tree.size;
    group.exchange(to, at(buffer, begin_of(out)), bytes_of_nodes(out, 1), from,
                   at(buffer, begin_of(in)), bytes_of_nodes(in, 1));
  }
}

// Whether one message of such a size goes to all, which schedules cannot have: such messages have
// an order of their own.
template <class Group>
bool reaches_all(Group& group, std::uint64_t size) {
  if constexpr (std::is_same_v<Group, GroupCall>) {
    return goes_to_all(size, group.process().bcast_way) && group.multicasts();
  } else {
    return false;
  }
}

// Whether members meet before this broadcast, which is to go so. All know it from the number of the
// collective, by multiples of the golden ratio, which no pattern of calls evades.
bool meets_first(Process& process, Comm& comm, std::uint64_t size) {
  constexpr std::uint32_t kGolden = 0x9e3779b1;
  const auto number = static_cast<std::uint32_t>(comm.collectives);
  return number * kGolden < ~std::uint32_t{0} / kMulticastsAhead && size <= kMulticastBytes &&
         process.bcast_way == BcastWay::automatic && multicasts(process, comm);
}

// From the root to one member of each other node, and from these to the others of their node. The
// root is that member of its own node.
template <class Group>
void bcast_in_levels(Group& group, const CommNodes& nodes, void* buffer, std::uint64_t size,
                     int root) {
  const NodeTree level(nodes, root);
  if (level.heads()) {
    Subgroup<Group> heads = level.heads_of(group);
    bcast_binomial(heads, buffer, size, level.tree.root);
  }
  Subgroup<Group> here = in_node(group, nodes);
  bcast_binomial(here, buffer, size, level.head_place);
}

template <class Group>
void bcast_by_messages(Group& group, void* buffer, std::uint64_t size, int root) {
  if (group.size() == 1) return;
  const CommNodes* const nodes = group.nodes();
  switch (choose_bcast(size, group.size(), group.process().bcast_way, reaches_all(group, size),
                       spread_of(nodes))) {
    case Algorithm::levels:
      return bcast_in_levels(group, *nodes, buffer, size, root);
    case Algorithm::node_split: {
      Subgroup<Group> members = by_node(group, *nodes);
      return bcast_split(members, buffer, size, nodes->index_by_node(root));
    }
    case Algorithm::split:
      return bcast_split(group, buffer, size, root);
    case Algorithm::binomial:
      return bcast_binomial(group, buffer, size, root);
    default:
      return bcast_as_told(group, buffer, size, root);
  }
}

// Each member reads the message where the root has it. False: nothing was done.
bool bcast_directly(Process& process, Comm& comm, const char* call, void* buffer,
                    std::uint64_t size, int root) {
  if (!reads_at_root(size, comm.size)) return false;
  if (!DirectCall::possible(process, comm, CollectiveKind::bcast, call)) return false;
  DirectCall direct(process, comm, CollectiveKind::bcast, call, size);
  if (comm.rank == root) direct.expose(DirectCall::kIn, buffer, lci::kRead);
  direct.meet();
  if (comm.rank != root) direct.fetch(root, DirectCall::kIn, 0, buffer, size);
  // All have it.
  direct.meet();
  return true;
}

}  // namespace

void bcast(Process& process, Comm& comm, const char* call, void* buffer, std::uint64_t size,
           int root) {
  const bool as_told = process.bcast_way != BcastWay::automatic;
  if (bcast_by_network(process, comm, call, buffer, size, root)) return;
  if (!as_told && bcast_directly(process, comm, call, buffer, size, root)) return;
  if (meets_first(process, comm, size)) barrier(process, comm, CollectiveKind::bcast, call);
  GroupCall group(process, comm, CollectiveKind::bcast, call);
  bcast_by_messages(group, buffer, size, root);
}

void record_bcast(Recorder& group, void* buffer, std::uint64_t size, int root) {
  bcast_by_messages(group, buffer, size, root);
}

}  // namespace fairlead::mpi
