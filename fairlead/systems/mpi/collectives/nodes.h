// Which members of a communicator share a node, so that collectives can go in two levels: in each
// node, and between one member of each, the node's leader. Every rank knows it without a message
// (run::Context::node_of).
#pragma once
#include <span>
#include <vector>

#include "fairlead/base/node_map.h"
#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/subgroup.h"
#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {

// A value; unchanged once made. Members are named by their ranks in the communicator, nodes are
// numbered from 0 by their first members, so that member 0 leads node 0.
class CommNodes {
 public:
  // `node_of`: of each member, under any numbers; `rank` is this one.
  CommNodes(std::span<const std::uint32_t> node_of, int rank);

  int count() const { return static_cast<int>(map_.count()); }
  int node_of(int member) const { return static_cast<int>(map_.node_of(of(member))); }
  // Number of a member among those of its node.
  int place_of(int member) const { return static_cast<int>(map_.place_of(of(member))); }
  // Ascending.
  std::span<const Rank> members_of(int node) const { return map_.ranks_of(of(node)); }
  // The first member of each node.
  std::span<const Rank> leaders() const { return leaders_; }
  // All members, one node after the other.
  std::span<const Rank> by_node() const { return by_node_; }
  int index_by_node(int member) const {
    return begins_[static_cast<std::size_t>(node_of(member))] + place_of(member);
  }
  // by_node() is the order of ranks: what is combined in each node and then from node to node is
  // combined in rank order.
  bool in_rank_order() const { return in_rank_order_; }

  // This member's.
  int own() const { return own_; }
  int own_place() const { return own_place_; }
  bool leads() const { return own_place_ == 0; }

 private:
  static std::uint32_t of(int number) { return static_cast<std::uint32_t>(number); }

  NodeMap map_;
  std::vector<Rank> leaders_;
  std::vector<Rank> by_node_;
  std::vector<int> begins_;  // of each node's there
  bool in_rank_order_;
  int own_;
  int own_place_;
};

// What the table of algorithms asks of them.
inline NodeSpread spread_of(const CommNodes* nodes) {
  return nodes == nullptr ? NodeSpread{} : NodeSpread{nodes->count(), nodes->in_rank_order()};
}

// nullptr: the members share one node, or each has its own, and no collective need know. Found out
// at the first call on a communicator.
const CommNodes* settle_nodes(Process& process, Comm& comm);
inline const CommNodes* nodes_of(Process& process, Comm& comm) {
  return comm.nodes_settled ? comm.nodes.get() : settle_nodes(process, comm);
}

// The parts of a group that has such nodes. Those of this member's node, by rank:
template <class Group>
Subgroup<Group> in_node(Group& group, const CommNodes& nodes) {
  return {group, nodes.members_of(nodes.own()), nodes.own_place()};
}
// The leaders, by node; only for one of them.
template <class Group>
Subgroup<Group> among_leaders(Group& group, const CommNodes& nodes) {
  return {group, nodes.leaders(), nodes.own()};
}
// All members, one node after the other.
template <class Group>
Subgroup<Group> by_node(Group& group, const CommNodes& nodes) {
  return {group, nodes.by_node(), nodes.index_by_node(group.rank())};
}

}  // namespace fairlead::mpi
