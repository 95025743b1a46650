#include "fairlead/base/node_map.h"

#include <unordered_map>

namespace fairlead {

NodeMap::NodeMap(std::span<const std::uint32_t> node_of) {
  std::unordered_map<std::uint32_t, Peer> numbers;
  std::vector<std::uint32_t> counts;
  for (const std::uint32_t given : node_of) {
    const Peer node = numbers.emplace(given, static_cast<Peer>(numbers.size())).first->second;
    if (node == counts.size()) counts.push_back(0);
    node_of_.push_back(node);
    places_.push_back(counts[node]++);
  }
  for (const std::uint32_t count : counts) starts_.push_back(starts_.back() + count);
  by_node_.resize(node_of_.size());
  for (Rank rank = 0; rank < ranks(); ++rank) {
    by_node_[starts_[node_of_[rank]] + places_[rank]] = rank;
  }
}

NodeMap NodeMap::even(Rank ranks, std::uint32_t each) {
  std::vector<Peer> node_of(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) node_of[rank] = rank / each;
  return NodeMap(node_of);
}

NodeMap NodeMap::of_counts(std::span<const std::uint32_t> counts) {
  std::vector<Peer> node_of;
  for (Peer node = 0; node < counts.size(); ++node) {
    node_of.insert(node_of.end(), counts[node], node);
  }
  return NodeMap(node_of);
}

}  // namespace fairlead
