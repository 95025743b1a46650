#include "fairlead/systems/dsm/lock_words.h"

#include <gtest/gtest.h>

#include <array>

namespace fairlead::dsm {
namespace {

constexpr std::uint32_t kRanks = 4;

TEST(LockWords, OfAQueueSayWhoIsLastAndWhetherTheLockIsFree) {
  for (Rank last = 0; last < kRanks; ++last) {
    for (const bool taken : {false, true}) {
      const std::uint64_t word = QueueWord{last, taken}.word();
      // Expect: never the word of a lock that nobody had yet.
      EXPECT_NE(word, 0u);
      const auto read = QueueWord::of(word, kRanks);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->last, last);
      EXPECT_EQ(read->taken, taken);
    }
  }
}

TEST(LockWords, OfAFollowerSayWhatItHasRead) {
  for (const bool takes : {false, true}) {
    const std::uint64_t word = FollowerWord{3, takes, (1 << 21) - 1, 8192, 15}.word();
    const auto read = FollowerWord::of(word, kRanks);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->rank, 3u);
    EXPECT_EQ(read->takes, takes);
    EXPECT_EQ(read->generation, (1u << 21) - 1);
    EXPECT_EQ(read->read, 8192u);
    EXPECT_EQ(read->epoch, 15u);
    // Expect: epochs beyond begin anew and change nothing else.
    EXPECT_EQ((FollowerWord{3, takes, 7, 5, 17}.word()), (FollowerWord{3, takes, 7, 5, 1}.word()));
  }
}

TEST(LockWords, ThatNameNoRankAreNone) {
  for (const std::uint64_t word :
       {std::uint64_t{1}, std::uint64_t{(kRanks + 1) << 1}, ~std::uint64_t{0}}) {
    EXPECT_FALSE(QueueWord::of(word, kRanks)) << word;
  }
  for (const std::uint64_t word :
       {std::uint64_t{5} << 32, std::uint64_t{kRanks + 1}, ~std::uint64_t{0}}) {
    EXPECT_FALSE(FollowerWord::of(word, kRanks)) << word;
  }
}

TEST(LockWords, RecordsNamePagesAndRanksThatThereAre) {
  const std::array good = {Notice{63, 3, 1}, Notice{0, 0, 9}};
  EXPECT_TRUE(can_be(good, 64, kRanks));
  const std::array wrong_page = {Notice{64, 3, 1}};
  EXPECT_FALSE(can_be(wrong_page, 64, kRanks));
  const std::array wrong_writer = {good[0], Notice{0, kRanks, 1}};
  EXPECT_FALSE(can_be(wrong_writer, 64, kRanks));
}

}  // namespace
}  // namespace fairlead::dsm
