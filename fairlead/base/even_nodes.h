// So many ranks to a node, from rank 0 on: a placement that needs no table, whatever its size.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/post.h"

namespace fairlead {

// The last node with ranks may have fewer; further nodes have none.
struct EvenNodes {
  Rank ranks = 0;
  std::uint32_t each = 1;  // at least 1

  // One rank on every node.
  static EvenNodes alone(Rank ranks) { return {ranks, 1}; }

  bool several() const { return each > 1; }
  // Returns the number of nodes with ranks.
  Peer count() const { return (ranks + each - 1) / each; }
  Peer node_of(Rank rank) const { return each == 1 ? rank : rank / each; }
  // Number of `rank` among those of its node.
  std::uint32_t place_of(Rank rank) const { return each == 1 ? 0 : rank % each; }
  Rank rank_at(Peer node, std::uint32_t place) const { return node * each + place; }
  // How many ranks that node has.
  std::uint32_t ranks_on(Peer node) const {
    const Rank first = node * each;
    return first >= ranks ? 0 : std::min(each, ranks - first);
  }
};

}  // namespace fairlead
