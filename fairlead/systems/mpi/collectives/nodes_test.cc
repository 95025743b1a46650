#include "fairlead/systems/mpi/collectives/nodes.h"

#include <gtest/gtest.h>

namespace fairlead::mpi {
namespace {

using Numbers = std::vector<Rank>;

Numbers of(std::span<const Rank> ranks) { return {ranks.begin(), ranks.end()}; }

TEST(CommNodes, KnowWhoLeadsAndWhoBelongsToWhom) {
  // The nodes of a communicator's members have these names.
  const std::vector<std::uint32_t> node_of = {4, 9, 4, 4, 2, 9};
  for (int rank = 0; rank < 6; ++rank) {
    const CommNodes nodes(node_of, rank);
    ASSERT_EQ(nodes.count(), 3);
    EXPECT_EQ(of(nodes.leaders()), (Numbers{0, 1, 4}));
    EXPECT_EQ(of(nodes.members_of(0)), (Numbers{0, 2, 3}));
    EXPECT_EQ(of(nodes.members_of(1)), (Numbers{1, 5}));
    EXPECT_EQ(of(nodes.by_node()), (Numbers{0, 2, 3, 1, 5, 4}));
    EXPECT_FALSE(nodes.in_rank_order());
    EXPECT_EQ(nodes.own(), nodes.node_of(rank));
    EXPECT_EQ(nodes.own_place(), nodes.place_of(rank));
    EXPECT_EQ(nodes.leads(), rank == 0 || rank == 1 || rank == 4);
    EXPECT_EQ(
        static_cast<int>(nodes.by_node()[static_cast<std::size_t>(nodes.index_by_node(rank))]),
        rank);
  }
}

TEST(CommNodes, InRankOrderWhereTheMembersOfANodeFollowEachOther) {
  EXPECT_TRUE(CommNodes(std::vector<std::uint32_t>{1, 0, 0, 0, 5, 5}, 0).in_rank_order());
  EXPECT_TRUE(CommNodes(std::vector<std::uint32_t>{3, 3, 1}, 2).in_rank_order());
  EXPECT_FALSE(CommNodes(std::vector<std::uint32_t>{0, 1, 0}, 1).in_rank_order());
  EXPECT_FALSE(CommNodes(std::vector<std::uint32_t>{0, 0, 1, 0}, 1).in_rank_order());
}

}  // namespace
}  // namespace fairlead::mpi
