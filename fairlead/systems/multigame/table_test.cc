// Table and Outbox: what is kept, what is replaced, what is full.
#include "fairlead/systems/multigame/table.h"

#include <gtest/gtest.h>

#include <vector>

#include "fairlead/systems/multigame/core.h"
#include "fairlead/systems/multigame/outbox.h"

namespace fairlead::multigame {
namespace {

Position numbered(std::uint64_t number) { return {{number, 0, 0}}; }

TEST(Table, answers_what_was_stored_and_nothing_else) {
  Table<ReachedNote> table(1024);
  EXPECT_TRUE(table.there());
  EXPECT_EQ(table.bytes_held(), 1024u);
  EXPECT_EQ(table.find(5, numbered(1), 1), nullptr);
  EXPECT_FALSE(table.store(5, numbered(1), {1, 7, 3}));
  ASSERT_NE(table.find(5, numbered(1), 1), nullptr);
  EXPECT_EQ(table.find(5, numbered(1), 1)->made, 7);
  // Expect: another position with the same hash is another one; so is the same in another search.
  EXPECT_EQ(table.find(5, numbered(2), 1), nullptr);
  EXPECT_EQ(table.find(5, numbered(1), 2), nullptr);
}

TEST(Table, keeps_the_heavier_of_a_bucket_and_the_latest) {
  Table<ReachedNote> table(64);  // one bucket
  EXPECT_FALSE(table.store(0, numbered(1), {1, 0, 50}));
  EXPECT_FALSE(table.store(0, numbered(2), {1, 0, 10}));
  // Expect: a light one takes the place of the light one, and says that one was lost.
  EXPECT_TRUE(table.store(0, numbered(3), {1, 0, 5}));
  EXPECT_NE(table.find(0, numbered(1), 1), nullptr);
  EXPECT_EQ(table.find(0, numbered(2), 1), nullptr);
  EXPECT_NE(table.find(0, numbered(3), 1), nullptr);
  // Expect: a heavier one takes the first place; what was there stays.
  EXPECT_TRUE(table.store(0, numbered(4), {1, 0, 60}));
  EXPECT_NE(table.find(0, numbered(1), 1), nullptr);
  EXPECT_NE(table.find(0, numbered(4), 1), nullptr);
  EXPECT_EQ(table.find(0, numbered(3), 1), nullptr);
}

TEST(Table, of_an_earlier_search_nothing_is_worth_keeping) {
  Table<ReachedNote> table(64);
  (void)table.store(0, numbered(1), {1, 0, 50});
  (void)table.store(0, numbered(2), {1, 0, 10});
  EXPECT_FALSE(table.store(0, numbered(3), {2, 0, 1}));
  EXPECT_FALSE(table.store(0, numbered(4), {2, 0, 0}));
  EXPECT_NE(table.find(0, numbered(3), 2), nullptr);
  EXPECT_NE(table.find(0, numbered(4), 2), nullptr);
}

TEST(Table, sizes) {
  // Expect: rounded down to a power of two; less than a bucket is no table.
  EXPECT_EQ(Table<ValueNote>(1000).bytes_held(), 512u);
  EXPECT_EQ(Table<ValueNote>(65).bytes_held(), 64u);
  EXPECT_FALSE(Table<ValueNote>(63).there());
  EXPECT_FALSE(Table<ValueNote>(0).there());
}

TEST(Outbox, gives_a_message_when_it_is_full) {
  Outbox<int> box(3, 2);
  EXPECT_TRUE(box.add(1, 10).empty());
  EXPECT_TRUE(box.add(2, 20).empty());
  const std::span<const int> full = box.add(1, 11);
  ASSERT_EQ(full.size(), 2u);
  EXPECT_EQ(full[0], 10);
  EXPECT_EQ(full[1], 11);
  box.emptied(1);
  EXPECT_TRUE(box.add(0, 1).empty());
  std::vector<std::pair<Rank, int>> sent;
  box.flush([&](Rank to, std::span<const int> items) { sent.push_back({to, items[0]}); });
  // Expect: what waits, in the order of its first job, and only once.
  EXPECT_EQ(sent, (std::vector<std::pair<Rank, int>>{{2, 20}, {0, 1}}));
  box.flush([](Rank, std::span<const int>) { FAIL(); });
}

TEST(Outbox, drops_what_waits) {
  Outbox<int> box(2, 4);
  (void)box.add(0, 1);
  (void)box.add(1, 2);
  (void)box.add(1, 3);
  EXPECT_EQ(box.drop(), 3u);
  EXPECT_EQ(box.drop(), 0u);
  // Expect: as new.
  EXPECT_TRUE(box.add(1, 4).empty());
  int sent = 0;
  box.flush([&](Rank to, std::span<const int> items) {
    EXPECT_EQ(to, 1u);
    EXPECT_EQ(items.size(), 1u);
    ++sent;
  });
  EXPECT_EQ(sent, 1);
}

TEST(Hash, owners_get_equal_shares_and_the_low_bits_differ) {
  constexpr Rank kRanks = 7;
  std::vector<int> shares(kRanks);
  std::vector<int> places(64);
  for (std::uint64_t i = 0; i < 70'000; ++i) {
    const std::uint64_t hash = hash_of(numbered(i));
    ++shares[owner_of(hash, kRanks)];
    ++places[hash & 63];
  }
  for (const int share : shares) EXPECT_NEAR(share, 10'000, 500);
  for (const int place : places) EXPECT_NEAR(place, 1094, 200);
}

}  // namespace
}  // namespace fairlead::multigame
