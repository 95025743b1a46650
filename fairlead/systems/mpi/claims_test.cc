#include "fairlead/systems/mpi/claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "fairlead/systems/mpi/fake_port.h"

namespace fairlead::mpi {
namespace {

TEST(Claims, BothEndsMeetAndNoChunkIsTakenTwice) {
  ClaimWord table[kClaimSlots]{};
  const Claim claim(5, 77);
  claim.open(table);
  EXPECT_EQ(claim.take(table, 4, Claim::End::front), 0u);
  EXPECT_EQ(claim.take(table, 4, Claim::End::back), 3u);
  EXPECT_EQ(claim.take(table, 4, Claim::End::back), 2u);
  EXPECT_EQ(claim.take(table, 4, Claim::End::front), 1u);
  EXPECT_EQ(claim.take(table, 4, Claim::End::front), std::nullopt);
  EXPECT_EQ(claim.take(table, 4, Claim::End::back), std::nullopt);
}

TEST(Claims, TwoThreadsTakeEveryChunkOnce) {
  constexpr std::uint32_t kChunks = Claim::kChunksMax;
  ClaimWord table[kClaimSlots]{};
  for (std::uint32_t generation = 1; generation <= 5; ++generation) {
    const Claim claim(63, generation);
    claim.open(table);
    std::vector<std::uint32_t> taken[2];
    const auto work = [&](int who) {
      const auto end = who == 0 ? Claim::End::front : Claim::End::back;
      while (const auto mine = claim.take(table, kChunks, end)) taken[who].push_back(*mine);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    std::vector<std::uint32_t> all = taken[0];
    all.insert(all.end(), taken[1].begin(), taken[1].end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), kChunks);
    for (std::uint32_t i = 0; i < kChunks; ++i) ASSERT_EQ(all[i], i);
  }
}

// A sender that learns too late that it was asked, when the slot is another message's.
TEST(Claims, AnOldClaimTakesNothing) {
  ClaimWord table[kClaimSlots]{};
  const Claim before(3, 10);
  before.open(table);
  const Claim now(3, 11);
  now.open(table);
  EXPECT_EQ(before.take(table, 8, Claim::End::back), std::nullopt);
  EXPECT_EQ(now.take(table, 8, Claim::End::back), 7u);
}

TEST(Claims, AWordCarriesAClaim) {
  for (const std::uint32_t generation : {1u, 12345u, (1u << 26) - 1}) {
    for (const std::uint32_t slot : {0u, 17u, kClaimSlots - 1}) {
      const Claim claim(slot, generation);
      const Claim read = Claim::of_word(claim.word());
      EXPECT_EQ(read.slot(), slot);
      EXPECT_EQ(read.generation(), generation);
    }
  }
}

TEST(Claims, SlotsRunOutAndComeBack) {
  FakePort port(0, 2);
  ClaimSlots slots;
  std::set<std::uint32_t> seen;
  std::vector<Claim> taken;
  for (std::uint32_t i = 0; i < kClaimSlots; ++i) {
    const std::optional<Claim> claim = slots.take(port);
    ASSERT_TRUE(claim.has_value());
    taken.push_back(*claim);
    seen.insert(claim->slot());
  }
  EXPECT_EQ(seen.size(), kClaimSlots);
  EXPECT_FALSE(slots.take(port).has_value());
  slots.give(taken[9]);
  const std::optional<Claim> again = slots.take(port);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->slot(), taken[9].slot());
  EXPECT_NE(again->generation(), taken[9].generation());
}

TEST(Claims, APortWithoutMemoryHasNoSlots) {
  FakePort port(0, 2);
  port.allocates = false;
  ClaimSlots slots;
  EXPECT_FALSE(slots.take(port).has_value());
  EXPECT_FALSE(slots.take(port).has_value());
}

TEST(Claims, ChunksCoverAMessageOfAnySize) {
  for (std::uint64_t bytes = 1; bytes < (std::uint64_t{1} << 42); bytes = bytes * 3 + 1) {
    const std::uint64_t each = chunk_bytes(bytes);
    EXPECT_GE(each, kChunkBytesMin);
    EXPECT_LE((bytes + each - 1) / each, Claim::kChunksMax) << bytes;
  }
}

}  // namespace
}  // namespace fairlead::mpi
