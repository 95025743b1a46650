#include "fairlead/systems/dsm/watch/sharing.h"

#include <gtest/gtest.h>

namespace fairlead::dsm {
namespace {

// Ranks that write pages in intervals with these clocks.
class Job {
 public:
  explicit Job(std::size_t ranks) : ranks_(ranks) {}

  Job& writes(Rank rank, PageId page, VectorTime clock, std::vector<ByteRun> runs,
              std::uint32_t place = 1, std::uint32_t epoch = 0, bool mixed = false) {
    RankProfile& of = ranks_[rank];
    of.clocks.push_back(std::move(clock));
    of.writes.push_back({page, epoch, static_cast<std::uint32_t>(of.clocks.size() - 1), place,
                         mixed, std::move(runs)});
    return *this;
  }
  Job& reads(Rank rank, PageId page, VectorTime clock, std::uint32_t begin, std::uint32_t end,
             std::uint32_t place = 1, std::uint32_t epoch = 0) {
    RankProfile& of = ranks_[rank];
    of.clocks.push_back(std::move(clock));
    of.reads.push_back(
        {page, epoch, static_cast<std::uint32_t>(of.clocks.size() - 1), place, begin, end});
    return *this;
  }
  Sharing sharing() const { return sharing_of(ranks_); }

 private:
  std::vector<RankProfile> ranks_;
};

TEST(Sharing, BytesBesideEachOther) {
  const Sharing found = Job(2)
                            .writes(0, 5, {1, 0}, {{0, 8}, {16, 24}}, 3)
                            .writes(1, 5, {0, 1}, {{100, 164}}, 4)
                            .sharing();
  EXPECT_TRUE(found.races.empty());
  ASSERT_EQ(found.pages.size(), 1u);
  const SharedPage& page = found.pages[0];
  EXPECT_EQ(page.page, 5u);
  EXPECT_EQ(page.meetings, 1u);
  // Expect: what nobody writes parts nothing.
  ASSERT_EQ(page.parts.size(), 2u);
  EXPECT_EQ(page.parts[0].begin, 0u);
  EXPECT_EQ(page.parts[0].end, 24u);
  EXPECT_EQ(page.parts[0].ranks, std::vector<Rank>{0});
  EXPECT_EQ(page.parts[1].begin, 100u);
  EXPECT_EQ(page.parts[1].end, 164u);
  ASSERT_EQ(page.writers.size(), 2u);
  EXPECT_EQ(page.writers[1].rank, 1u);
  EXPECT_EQ(page.writers[1].places, std::vector<std::uint32_t>{4});
  EXPECT_EQ(advice(page),
            "begin each rank's part, of up to 64 bytes, at a page of its own (4096 bytes)");
}

TEST(Sharing, BytesAmongEachOther) {
  const Sharing found = Job(2)
                            .writes(0, 5, {1, 0}, {{0, 8}, {16, 24}})
                            .writes(1, 5, {0, 1}, {{8, 16}, {24, 32}})
                            .sharing();
  ASSERT_EQ(found.pages.size(), 1u);
  EXPECT_NE(advice(found.pages[0]).find("alternates 3 times"), std::string::npos);
}

TEST(Sharing, SameBytesAreARace) {
  const Sharing found = Job(3)
                            .writes(0, 5, {1, 0, 0}, {{0, 8}, {16, 24}}, 3)
                            .writes(2, 5, {0, 0, 1}, {{4, 20}}, 4)
                            .writes(2, 5, {0, 0, 2}, {{6, 7}}, 4)
                            .sharing();
  ASSERT_EQ(found.races.size(), 1u);
  const Race& race = found.races[0];
  EXPECT_EQ(race.page, 5u);
  EXPECT_EQ(race.first, (Race::Side{0, 3}));
  EXPECT_EQ(race.second, (Race::Side{2, 4}));
  EXPECT_EQ(race.begin, 4u);
  EXPECT_EQ(race.end, 20u);
  EXPECT_EQ(race.times, 2u);
}

TEST(Sharing, AReadOfWhatAnotherWritesIsARace) {
  const Sharing found = Job(3)
                            .writes(0, 5, {1, 0, 0}, {{0, 8}, {16, 24}}, 3)
                            .reads(2, 5, {0, 0, 1}, 4, 20, 4)
                            .reads(1, 5, {0, 1, 0}, 8, 16, 5)
                            .sharing();
  ASSERT_EQ(found.races.size(), 1u);
  EXPECT_EQ(found.races[0].first, (Race::Side{0, 3}));
  EXPECT_EQ(found.races[0].second, (Race::Side{2, 4, true}));
  EXPECT_EQ(found.races[0].begin, 4u);
  EXPECT_EQ(found.races[0].end, 20u);
  EXPECT_TRUE(found.pages.empty());
  // Expect: none where one comes before the other, either way, or barriers are between them.
  EXPECT_TRUE(Job(2)
                  .writes(0, 5, {1, 0}, {{0, 8}})
                  .reads(1, 5, {1, 1}, 0, 8)
                  .writes(0, 5, {2, 1}, {{0, 8}})
                  .reads(1, 5, {0, 3}, 0, 8, 1, 1)
                  .sharing()
                  .races.empty());
  // Expect: what two places write they read in the same race.
  EXPECT_EQ(Job(2)
                .writes(0, 5, {1, 0}, {{0, 8}}, 3)
                .writes(1, 5, {0, 1}, {{0, 8}}, 4)
                .reads(1, 5, {0, 1}, 0, 8, 4)
                .sharing()
                .races.size(),
            1u);
}

TEST(Sharing, WhatComesBeforeIsNoRace) {
  // Rank 1's second interval is behind rank 0's first; rank 0's second behind rank 1's.
  const Sharing found = Job(2)
                            .writes(0, 5, {1, 0}, {{0, 8}})
                            .writes(1, 5, {1, 2}, {{0, 8}})
                            .writes(0, 5, {2, 2}, {{0, 8}})
                            .sharing();
  EXPECT_TRUE(found.races.empty());
  EXPECT_TRUE(found.pages.empty());
  // Expect: nor is what barriers part, or what is of two pages.
  const Sharing other = Job(2)
                            .writes(0, 5, {1, 0}, {{0, 8}}, 1, 0)
                            .writes(1, 5, {0, 1}, {{0, 8}}, 1, 1)
                            .writes(1, 6, {0, 2}, {{0, 8}}, 1, 0)
                            .sharing();
  EXPECT_TRUE(other.races.empty());
}

TEST(Sharing, OnlyTheIntervalsInTheMiddleMeet) {
  Job job(2);
  for (std::uint32_t i = 1; i <= 6; ++i) job.writes(1, 5, {i > 4 ? 1u : 0u, i}, {{0, 8}}, i);
  const Sharing found = job.writes(0, 5, {1, 2}, {{0, 8}}).sharing();
  // Expect: 1 and 2 came before, 5 and 6 behind.
  ASSERT_EQ(found.races.size(), 2u);
  EXPECT_EQ(found.races[0].second.place, 3u);
  EXPECT_EQ(found.races[1].second.place, 4u);
}

// A home's copy has what others brought in at the same time.
TEST(Sharing, MixedWritesAreNoRaceAndWithoutOthersBytes) {
  const Sharing found = Job(2)
                            .writes(0, 5, {1, 0}, {{0, 8}, {100, 108}}, 1, 0, true)
                            .writes(1, 5, {0, 1}, {{100, 108}})
                            .sharing();
  EXPECT_TRUE(found.races.empty());
  ASSERT_EQ(found.pages.size(), 1u);
  ASSERT_EQ(found.pages[0].parts.size(), 2u);
  EXPECT_EQ(found.pages[0].parts[0].end, 8u);
  EXPECT_EQ(found.pages[0].parts[1].ranks, std::vector<Rank>{1});
  // Expect: a home that wrote nothing itself shares nothing.
  EXPECT_TRUE(Job(2)
                  .writes(0, 5, {1, 0}, {{100, 108}}, 1, 0, true)
                  .writes(1, 5, {0, 1}, {{100, 108}})
                  .sharing()
                  .pages.empty());
}

}  // namespace
}  // namespace fairlead::dsm
