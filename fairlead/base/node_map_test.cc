#include "fairlead/base/node_map.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using Ranks = std::vector<Rank>;

Ranks ranks_of(const NodeMap& map, Peer node) {
  const std::span<const Rank> ranks = map.ranks_of(node);
  return {ranks.begin(), ranks.end()};
}

TEST(NodeMaps, OfAnyPlacementNumberNodesByTheirFirstRanks) {
  const NodeMap map(std::vector<std::uint32_t>{7, 3, 7, 7, 3, 0});
  EXPECT_EQ(map.ranks(), 6u);
  ASSERT_EQ(map.count(), 3u);
  EXPECT_EQ(map.table(), (std::vector<Peer>{0, 1, 0, 0, 1, 2}));
  EXPECT_EQ(ranks_of(map, 0), (Ranks{0, 2, 3}));
  EXPECT_EQ(ranks_of(map, 1), (Ranks{1, 4}));
  EXPECT_EQ(ranks_of(map, 2), (Ranks{5}));
  for (Peer node = 0; node < map.count(); ++node) {
    EXPECT_EQ(map.leader_of(node), map.ranks_of(node).front());
    for (std::uint32_t place = 0; place < map.ranks_of(node).size(); ++place) {
      EXPECT_EQ(map.place_of(map.ranks_of(node)[place]), place);
      EXPECT_EQ(map.node_of(map.ranks_of(node)[place]), node);
    }
  }
}

TEST(NodeMaps, OfEvenNodesMayEndWithASmallerOne) {
  const NodeMap map = NodeMap::even(7, 3);
  EXPECT_EQ(map.table(), (std::vector<Peer>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(NodeMap::even(4, 9).count(), 1u);
}

TEST(NodeMaps, OfCountsGoNodeByNode) {
  EXPECT_EQ(NodeMap::of_counts(std::vector<std::uint32_t>{2, 1, 3}).table(),
            (std::vector<Peer>{0, 0, 1, 2, 2, 2}));
}

TEST(NodeMaps, OfNobodyHaveNoNodes) {
  EXPECT_EQ(NodeMap().count(), 0u);
  EXPECT_EQ(NodeMap(std::vector<std::uint32_t>{}).count(), 0u);
}

}  // namespace
}  // namespace fairlead
