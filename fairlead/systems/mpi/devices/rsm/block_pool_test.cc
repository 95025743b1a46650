#include "fairlead/systems/mpi/devices/rsm/block_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace fairlead::mpi::rsm {
namespace {

TEST(BlockPool, HandsOutEachBlockOnce) {
  BlockPool pool(4 * kBlockBytes);
  BlockPool::User user;
  pool.join(user);
  std::vector<std::uint16_t> blocks;
  while (const auto block = pool.take(kBlockBytes, user)) blocks.push_back(*block);
  EXPECT_EQ(blocks, (std::vector<std::uint16_t>{0, 2, 4, 6}));
  pool.give(4, kBlockBytes, user);
  EXPECT_EQ(pool.take(kSmallBlockBytes, user), 4);
  // Expect: half a block is left, for a small one only
  EXPECT_FALSE(pool.take(kSmallBlockBytes + 1, user).has_value());
  EXPECT_EQ(pool.take(1, user), 5);
  EXPECT_FALSE(pool.take(1, user).has_value());
}

TEST(BlockPool, KeepsABlockForEachUserThatHasNone) {
  BlockPool pool(4 * kBlockBytes);
  BlockPool::User a;
  BlockPool::User b;
  pool.join(a);
  pool.join(b);
  std::vector<std::uint16_t> of_a;
  while (const auto block = pool.take(kBlockBytes, a)) of_a.push_back(*block);
  EXPECT_EQ(of_a.size(), 3u);
  EXPECT_FALSE(pool.take(1, a).has_value());
  // Expect: the other one has it, in halves too, and does not lose it by giving one of them back
  const auto first = pool.take(1, b);
  ASSERT_TRUE(first.has_value());
  const auto second = pool.take(kSmallBlockBytes, b);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(pool.take(1, b).has_value());
  pool.give(*first, 1, b);
  EXPECT_FALSE(pool.take(1, a).has_value());
  pool.give(*second, kSmallBlockBytes, b);
  EXPECT_FALSE(pool.take(1, a).has_value());
  EXPECT_TRUE(pool.take(kBlockBytes, b).has_value());
  // Expect: who joins when there is none gets the next one
  BlockPool::User c;
  pool.join(c);
  EXPECT_FALSE(pool.take(1, c).has_value());
  pool.give(of_a.back(), kBlockBytes, a);
  EXPECT_FALSE(pool.take(kBlockBytes, a).has_value());
  EXPECT_FALSE(pool.take(kBlockBytes, b).has_value());
  EXPECT_TRUE(pool.take(kBlockBytes, c).has_value());
}

TEST(BlockPool, UsesAsManyOfFourBlocksInARowAsThereAreStripes) {
  BlockPool pool(8 * kBlockBytes, 2);
  BlockPool::User user;
  pool.join(user);
  std::vector<std::uint16_t> blocks;
  while (const auto block = pool.take(kBlockBytes, user)) blocks.push_back(*block);
  EXPECT_EQ(blocks, (std::vector<std::uint16_t>{0, 2, 8, 10}));
}

TEST(BlockPool, KeepsItsAccountThroughAnyOrder) {
  constexpr std::uint64_t kUnits = 32;
  constexpr std::size_t kUsers = 3;
  BlockPool pool(kUnits * kSmallBlockBytes);
  BlockPool::User users[kUsers];
  for (const BlockPool::User& user : users) pool.join(user);
  struct Taken {
    std::uint16_t block;
    std::uint64_t bytes;
    std::size_t user;
  };
  std::vector<int> in_use(kUnits, 0);
  std::vector<Taken> taken;
  std::mt19937 draw(1);
  const auto use = [&](const Taken& one, int by) {
    for (std::size_t i = 0; i < (one.bytes > kSmallBlockBytes ? 2u : 1u); ++i) {
      ASSERT_LT(one.block + i, kUnits);
      in_use[one.block + i] += by;
      ASSERT_TRUE(in_use[one.block + i] == 0 || in_use[one.block + i] == 1);
    }
  };
  for (int step = 0; step < 10'000; ++step) {
    const std::uint64_t bytes = draw() % kBlockBytes + 1;
    const std::size_t user = draw() % kUsers;
    const bool had_none = users[user].held == 0;
    if (const auto block = pool.take(bytes, users[user])) {
      taken.push_back({*block, bytes, user});
      use(taken.back(), 1);
    } else {
      // Expect: only who holds some may get none
      ASSERT_FALSE(had_none);
    }
    while (!taken.empty() && draw() % 2 == 0) {
      const std::size_t which = draw() % taken.size();
      use(taken[which], -1);
      pool.give(taken[which].block, taken[which].bytes, users[taken[which].user]);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (const Taken& one : taken) pool.give(one.block, one.bytes, users[one.user]);
  std::size_t all = 0;
  while (pool.take(kSmallBlockBytes, users[0])) ++all;
  // Expect: all of it but a block for each of the others
  EXPECT_EQ(all, kUnits - 2 * (kUsers - 1));
}

}  // namespace
}  // namespace fairlead::mpi::rsm
