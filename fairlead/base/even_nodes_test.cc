#include "fairlead/base/even_nodes.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(EvenNodes, TheLastNodeMayHaveFewer) {
  const EvenNodes nodes{7, 3};
  EXPECT_EQ(nodes.count(), 3u);
  // Expect: three, three and one, then nobody
  for (Peer node = 0; node < 4; ++node) {
    constexpr std::uint32_t kThere[] = {3, 3, 1, 0};
    EXPECT_EQ(nodes.ranks_on(node), kThere[node]) << node;
  }
  for (Rank rank = 0; rank < 7; ++rank) {
    EXPECT_EQ(nodes.node_of(rank), rank / 3);
    // Expect: node and place name the rank
    EXPECT_EQ(nodes.rank_at(nodes.node_of(rank), nodes.place_of(rank)), rank);
  }
}

TEST(EvenNodes, AloneEveryRankIsANode) {
  const EvenNodes nodes = EvenNodes::alone(5);
  EXPECT_FALSE(nodes.several());
  EXPECT_EQ(nodes.count(), 5u);
  EXPECT_EQ(nodes.node_of(4), 4u);
  EXPECT_EQ(nodes.place_of(4), 0u);
}

}  // namespace
}  // namespace fairlead
