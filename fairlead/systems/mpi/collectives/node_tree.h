// The tree of nodes below the node of a root, for collectives in levels (nodes.h): one member of
// each node, its head, stands in it. That is the root in its own node, else the leader.
#pragma once
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {

struct NodeTree {
  // As this member sees it.
  NodeTree(const CommNodes& nodes, int root)
      : tree(nodes.own(), nodes.count(), nodes.node_of(root)),
        head_place(tree.is_root() ? nodes.place_of(root) : 0),
        nodes_(nodes),
        root_(root) {}

  bool heads() const { return nodes_.own_place() == head_place; }
  // All heads, by node; only for one of them.
  template <class Group>
  Subgroup<Group> heads_of(Group& group) const {
    Subgroup<Group> heads = among_leaders(group, nodes_);
    heads.stand_in(tree.root, root_);
    return heads;
  }

  const Tree tree;
  const int head_place;  // of this rank's node

 private:
  const CommNodes& nodes_;
  const int root_;
};

}  // namespace fairlead::mpi
