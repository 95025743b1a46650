#include "fairlead/systems/mpi/collectives/explain.h"

#include <gtest/gtest.h>

namespace fairlead::mpi {
namespace {

constexpr Collective kAll[] = {
    Collective::bcast,    Collective::reduce,         Collective::allreduce,
    Collective::gather,   Collective::scatter,        Collective::allgather,
    Collective::alltoall, Collective::reduce_scatter, Collective::scan};

std::vector<CollectivePlace> places(int ranks) {
  CollectivePlace messages;
  messages.ranks = ranks;
  CollectivePlace board = messages;
  board.board = true;
  CollectivePlace copies = board;
  copies.copies = true;
  CollectivePlace network = messages;
  network.network_meets = network.network_broadcasts = network.network_reduces = true;
  CollectivePlace broadcasts = messages;
  broadcasts.network_broadcasts = true;
  CollectivePlace multicasts = messages;
  multicasts.multicasts = true;
  CollectivePlace told = multicasts;
  told.way = BcastWay::multicast;
  CollectivePlace binary = board;
  binary.way = BcastWay::binary;
  CollectivePlace ordered = messages;
  ordered.commutes = false;
  CollectivePlace nodes = messages;
  nodes.spread.nodes = ranks;
  CollectivePlace mixed = nodes;
  mixed.spread.in_order = false;
  CollectivePlace mixed_ordered = mixed;
  mixed_ordered.commutes = false;
  return {nodes,   mixed,      mixed_ordered, messages, board,  copies,
          network, broadcasts, multicasts,    told,     binary, ordered};
}

TEST(ExplainCollectives, EverySizeIsServedByTheAlgorithmThatItsRowNames) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 1; size < 40'000; ++size) sizes.push_back(size);
  for (std::uint64_t size = 40 << 10; size < kDirectBcastBytesMax + 4096; size += 1024) {
    for (const std::uint64_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  }
  for (const int ranks : {1, 2, 3, 4, 7, 8, 32}) {
    for (const CollectivePlace& place : places(ranks)) {
      for (const Collective collective : kAll) {
        const std::vector<AlgorithmRow> rows = rows_of(collective, place);
        ASSERT_FALSE(rows.empty());
        ASSERT_EQ(rows.back().last, AlgorithmRow::kEnd);
        std::size_t row = 0;
        for (const std::uint64_t size : sizes) {
          if (size > rows[row].last) ++row;
          ASSERT_GE(size, rows[row].first);
          ASSERT_EQ(choose(collective, size, place), rows[row].algorithm)
              << "collective " << static_cast<int>(collective) << ", " << ranks << " ranks, "
              << size << " bytes";
        }
      }
    }
  }
}

TEST(ExplainCollectives, RowsFollowEachOtherWithoutAGapAndDiffer) {
  for (const int ranks : {2, 5, 64, 1000}) {
    for (const CollectivePlace& place : places(ranks)) {
      for (const Collective collective : kAll) {
        const std::vector<AlgorithmRow> rows = rows_of(collective, place);
        EXPECT_EQ(rows.front().first, 1u);
        for (std::size_t i = 1; i < rows.size(); ++i) {
          EXPECT_EQ(rows[i].first, rows[i - 1].last + 1);
          EXPECT_NE(rows[i].algorithm, rows[i - 1].algorithm);
          EXPECT_EQ(choose(collective, rows[i].first, place), rows[i].algorithm);
          EXPECT_EQ(choose(collective, rows[i].first - 1, place), rows[i - 1].algorithm);
        }
      }
    }
  }
}

TEST(ExplainCollectives, TheTextNamesThePlaceAndWhatServesWhichSize) {
  CollectivePlace place;
  place.ranks = 8;
  place.board = true;
  place.copies = true;
  const std::string text = explanation_of(place);
  EXPECT_NE(text.find("8 ranks; the place has messages, memory that all map"), std::string::npos)
      << text;
  EXPECT_NE(text.find("65536 to 1048576  all read the root's memory"), std::string::npos) << text;
  EXPECT_NE(text.find("131072 and more  each combines a part"), std::string::npos) << text;
}

TEST(ExplainCollectives, TheTextNamesNodesOfSeveralRanks) {
  CollectivePlace place;
  place.ranks = 8;
  place.spread = {2, true};
  EXPECT_NE(explanation_of(place).find("8 ranks on 2 nodes; the place has messages\n"),
            std::string::npos)
      << explanation_of(place);
  EXPECT_EQ(rows_of(Collective::reduce, place).front().algorithm, Algorithm::levels);
  place.spread.in_order = false;
  EXPECT_NE(explanation_of(place).find("8 ranks on 2 nodes, not node by node;"), std::string::npos);
  EXPECT_EQ(rows_of(Collective::allreduce, place).back().algorithm, Algorithm::node_ring);
  // Expect: what is combined node by node would be out of the order that the operation needs
  place.commutes = false;
  EXPECT_EQ(rows_of(Collective::reduce, place).front().algorithm, Algorithm::binomial);
}

}  // namespace
}  // namespace fairlead::mpi
