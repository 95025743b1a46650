#include "fairlead/systems/mpi/devices/rsm/block_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace fairlead::mpi::rsm {
namespace {

TEST(BlockPool, HandsOutEachBlockOnce) {
  BlockPool pool(4 * kBlockBytes);
  std::vector<std::uint16_t> blocks;
  while (const auto block = pool.take(kBlockBytes)) blocks.push_back(*block);
  EXPECT_EQ(blocks, (std::vector<std::uint16_t>{0, 2, 4, 6}));
  pool.give(4, kBlockBytes);
  EXPECT_EQ(pool.take(kSmallBlockBytes), 4);
  // Expect: half a block is left, for a small one only
  EXPECT_FALSE(pool.take(kSmallBlockBytes + 1).has_value());
  EXPECT_EQ(pool.take(1), 5);
  EXPECT_FALSE(pool.take(1).has_value());
}

TEST(BlockPool, KeepsItsAccountThroughAnyOrder) {
  constexpr std::uint64_t kUnits = 32;
  BlockPool pool(kUnits * kSmallBlockBytes);
  std::vector<int> users(kUnits, 0);
  std::vector<std::pair<std::uint16_t, std::uint64_t>> taken;
  std::mt19937 draw(1);
  const auto use = [&](std::uint16_t block, std::uint64_t bytes, int by) {
    for (std::size_t i = 0; i < (bytes > kSmallBlockBytes ? 2u : 1u); ++i) {
      users[block + i] += by;
      ASSERT_TRUE(users[block + i] == 0 || users[block + i] == 1);
    }
  };
  for (int step = 0; step < 10'000; ++step) {
    const std::uint64_t bytes = draw() % kBlockBytes + 1;
    if (const auto block = pool.take(bytes); block && draw() % 8 != 0) {
      ASSERT_LT(*block + (bytes > kSmallBlockBytes ? 1u : 0u), kUnits);
      use(*block, bytes, 1);
      taken.emplace_back(*block, bytes);
    } else if (block) {
      pool.give(*block, bytes);
    }
    while (!taken.empty() && draw() % 2 == 0) {
      const std::size_t which = draw() % taken.size();
      use(taken[which].first, taken[which].second, -1);
      pool.give(taken[which].first, taken[which].second);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (const auto& [block, bytes] : taken) pool.give(block, bytes);
  std::size_t all = 0;
  while (pool.take(kSmallBlockBytes)) ++all;
  EXPECT_EQ(all, kUnits);
}

}  // namespace
}  // namespace fairlead::mpi::rsm
