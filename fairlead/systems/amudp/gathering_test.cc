// Gatherings of 1 to 9 ranks, carried by hand.
#include "fairlead/systems/amudp/gathering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace fairlead::amudp {
namespace {

// Expect: after the rounds every rank has every block, its own first.
TEST(Gathering, EveryRankGetsEveryBlock) {
  constexpr std::size_t kBlock = 3;
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    std::vector<Gathering> all(ranks, Gathering(ranks));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ASSERT_TRUE(all[rank].agrees(kBlock));
      std::memset(all[rank].blocks(), static_cast<int>(rank) + 1, kBlock);
    }
    for (std::uint32_t round = 0; round < all[0].rounds(); ++round) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t to = (rank + ranks - all[0].blocks_before(round)) % ranks;
        const std::size_t size = kBlock * all[0].blocks_in(round);
        // In two parts, the second one first.
        for (const std::size_t at : {size / 2, std::size_t{0}}) {
          EXPECT_FALSE(all[to].complete(round));
          const std::size_t bytes = at == 0 ? size / 2 : size - size / 2;
          EXPECT_TRUE(all[to].came(round, kBlock, at, all[rank].blocks() + at, bytes));
        }
      }
      for (const Gathering& each : all) EXPECT_TRUE(each.complete(round));
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t i = 0; i < ranks * kBlock; ++i) {
        const auto owner = static_cast<std::uint32_t>((rank + i / kBlock) % ranks);
        EXPECT_EQ(static_cast<std::uint32_t>(all[rank].blocks()[i]), owner + 1);
      }
    }
  }
}

// Expect: what no rank sends is refused and changes nothing.
TEST(Gathering, RefusesWhatNoRankSends) {
  Gathering gathering(3);
  const std::byte data[8] = {};
  EXPECT_FALSE(gathering.came(2, 4, 0, data, 4));  // there are two rounds
  EXPECT_FALSE(gathering.came(0, 0, 0, data, 4));  // blocks have a size
  EXPECT_FALSE(gathering.came(0, 4, 1, data, 4));  // beyond the round's blocks
  EXPECT_FALSE(gathering.came(1, 4, 0, data, 8));  // one block is missing in round 1, not two
  EXPECT_FALSE(gathering.complete(0));
  EXPECT_TRUE(gathering.came(0, 4, 0, data, 4));
  EXPECT_TRUE(gathering.complete(0));
  EXPECT_FALSE(gathering.agrees(5));  // and not of this size
}

}  // namespace
}  // namespace fairlead::amudp
