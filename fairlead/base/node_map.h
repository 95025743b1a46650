// Which ranks share a node: for any placement that a launcher chooses.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/post.h"

namespace fairlead {

// A value; unchanged once made. Nodes are numbered from 0 by their first ranks.
class NodeMap {
 public:
  // No rank.
  NodeMap() = default;
  // The node of each rank, under any numbers.
  explicit NodeMap(std::span<const std::uint32_t> node_of);
  // So many to a node, from rank 0 on; the last may have fewer. `each` is at least 1.
  static NodeMap even(Rank ranks, std::uint32_t each);
  // So many on each, one node after the other.
  static NodeMap of_counts(std::span<const std::uint32_t> counts);

  Rank ranks() const { return static_cast<Rank>(node_of_.size()); }
  // How many nodes there are.
  Peer count() const { return static_cast<Peer>(starts_.size()) - 1; }
  Peer node_of(Rank rank) const { return node_of_[rank]; }
  // Ascending; never empty.
  std::span<const Rank> ranks_of(Peer node) const {
    return std::span(by_node_).subspan(starts_[node], starts_[node + 1] - starts_[node]);
  }
  // Its first rank.
  Rank leader_of(Peer node) const { return by_node_[starts_[node]]; }
  // Number of `rank` among those of its node.
  std::uint32_t place_of(Rank rank) const { return places_[rank]; }
  // node_of() of every rank.
  const std::vector<Peer>& table() const { return node_of_; }

 private:
  std::vector<Peer> node_of_;
  std::vector<std::uint32_t> places_;
  std::vector<Rank> by_node_;
  std::vector<std::uint32_t> starts_{0};  // of each node's in by_node_, and the end
};

}  // namespace fairlead
