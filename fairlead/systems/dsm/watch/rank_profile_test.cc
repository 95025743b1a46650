#include "fairlead/systems/dsm/watch/rank_profile.h"

#include <gtest/gtest.h>

namespace fairlead::dsm {
namespace {

constexpr PageId kPages = 9;
constexpr std::uint32_t kRanks = 2;

RankProfile small_profile() {
  RankProfile made;
  made.places = {{}, {"/home/me/lu", 0x123456789a}};
  made.cells = {{8, 1, {1, 2, 3, 4, std::uint64_t{5} << 40, microseconds(6), microseconds(7)}}};
  made.elsewhere.faults = 11;
  made.clocks = {{1, 2}, {3, 4}};
  made.writes = {{7, 2, 1, 1, true, {{0, 4}, {4095, 4096}}}};
  made.reads = {{6, 2, 0, 1, 8, 16}};
  made.locks = {3, microseconds(30)};
  made.barriers = {4, microseconds(40)};
  made.prefetched = 5;
  made.invalidations = 6;
  made.left_out = 7;
  made.elapsed = microseconds(100);
  return made;
}

TEST(RankProfile, TravelsWhole) {
  const RankProfile sent = small_profile();
  const auto came = RankProfile::of_words(sent.words(), kRanks, kPages);
  ASSERT_TRUE(came.has_value());
  EXPECT_EQ(came->places, sent.places);
  ASSERT_EQ(came->cells.size(), 1u);
  EXPECT_EQ(came->cells[0].page, 8u);
  EXPECT_EQ(came->cells[0].place, 1u);
  EXPECT_EQ(came->cells[0].tally, sent.cells[0].tally);
  EXPECT_EQ(came->elsewhere, sent.elsewhere);
  EXPECT_EQ(came->clocks, sent.clocks);
  ASSERT_EQ(came->writes.size(), 1u);
  const RankProfile::Write& write = came->writes[0];
  EXPECT_EQ(write.page, 7u);
  EXPECT_EQ(write.epoch, 2u);
  EXPECT_EQ(write.clock, 1u);
  EXPECT_EQ(write.place, 1u);
  EXPECT_TRUE(write.mixed);
  ASSERT_EQ(write.runs.size(), 2u);
  EXPECT_EQ(write.runs[1].begin, 4095);
  EXPECT_EQ(write.runs[1].end, 4096);
  EXPECT_EQ(came->reads, sent.reads);
  EXPECT_EQ(came->locks, sent.locks);
  EXPECT_EQ(came->barriers, sent.barriers);
  EXPECT_EQ(came->prefetched, 5u);
  EXPECT_EQ(came->invalidations, 6u);
  EXPECT_EQ(came->left_out, 7u);
  EXPECT_EQ(came->elapsed, sent.elapsed);
}

// What peers send is not trusted.
TEST(RankProfile, OtherWordsAreRefused) {
  const std::vector<std::uint32_t> good = small_profile().words();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(RankProfile::of_words(std::span(good).first(size), kRanks, kPages)) << size;
  }
  std::vector<std::uint32_t> longer = good;
  longer.push_back(0);
  EXPECT_FALSE(RankProfile::of_words(longer, kRanks, kPages));
  EXPECT_FALSE(RankProfile::of_words(good, kRanks, 8)) << "a page that is not of the heap";
  RankProfile bad = small_profile();
  bad.cells[0].place = 2;
  EXPECT_FALSE(RankProfile::of_words(bad.words(), kRanks, kPages));
  bad = small_profile();
  bad.writes[0].clock = 2;
  EXPECT_FALSE(RankProfile::of_words(bad.words(), kRanks, kPages));
  bad = small_profile();
  bad.reads[0].clock = 2;
  EXPECT_FALSE(RankProfile::of_words(bad.words(), kRanks, kPages));
  bad = small_profile();
  bad.reads[0].end = 4097;
  EXPECT_FALSE(RankProfile::of_words(bad.words(), kRanks, kPages));
  bad = small_profile();
  bad.writes[0].runs[1] = {4095, 4097};
  EXPECT_FALSE(RankProfile::of_words(bad.words(), kRanks, kPages));
  bad = small_profile();
  bad.writes[0].runs[0] = {4, 4};
  EXPECT_FALSE(RankProfile::of_words(bad.words(), kRanks, kPages));
  // Every word, made as large as can be: no count of it may be believed.
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::uint32_t> one = good;
    one[i] = ~std::uint32_t{0};
    (void)RankProfile::of_words(one, kRanks, kPages);
  }
}

}  // namespace
}  // namespace fairlead::dsm
