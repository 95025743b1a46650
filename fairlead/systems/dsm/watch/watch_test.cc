#include "fairlead/systems/dsm/watch/watch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fairlead::dsm {
namespace {

const std::vector<ByteRun> kRuns{{0, 8}};

const RankProfile::Cell* cell_of(const RankProfile& profile, PageId page) {
  const auto at = std::find_if(profile.cells.begin(), profile.cells.end(),
                               [page](const auto& cell) { return cell.page == page; });
  return at == profile.cells.end() ? nullptr : &*at;
}

TEST(Watch, CountsByPageAndPlace) {
  Watch watch(16, 0, 2, microseconds(5));
  watch.fault(3, 100, microseconds(7));
  watch.fetch(3, 100);
  watch.fault(3, 100, microseconds(1));
  watch.fault(3, 200, microseconds(2));
  // Expect: one first write an interval.
  EXPECT_TRUE(watch.first_write(4, 300));
  EXPECT_FALSE(watch.first_write(4, 301));
  watch.diff(4, 8, microseconds(3));
  watch.closed(4);
  EXPECT_TRUE(watch.first_write(4, 300));
  const RankProfile found = watch.profile(microseconds(25));
  EXPECT_EQ(found.elapsed, microseconds(20));
  ASSERT_EQ(found.cells.size(), 3u);
  Tally three;
  for (const RankProfile::Cell& cell : found.cells) {
    if (cell.page == 3) three.add(cell.tally);
  }
  EXPECT_EQ(three, (Tally{3, 0, 1, 0, 0, microseconds(10), Ps{}}));
  ASSERT_NE(cell_of(found, 4), nullptr);
  EXPECT_EQ(cell_of(found, 4)->tally, (Tally{0, 2, 0, 1, 8, Ps{}, microseconds(3)}));
}

// More pages and places than it has room for are counted, too.
TEST(Watch, FullTablesLoseNothing) {
  Watch watch(1, 0, 1, Ps{});
  constexpr std::uint64_t kPlaces = 1000;
  for (std::uint64_t at = 1; at <= kPlaces; ++at) watch.fault(0, at, Ps{});
  const RankProfile found = watch.profile(Ps{});
  std::uint64_t faults = found.elsewhere.faults;
  EXPECT_GT(faults, 0u);
  for (const RankProfile::Cell& cell : found.cells) faults += cell.tally.faults;
  EXPECT_EQ(faults, kPlaces);
}

TEST(Watch, KeepsWhatOthersWroteTooBetweenTheSameBarriers) {
  Watch watch(16, 1, 2, Ps{});
  watch.wrote(2, kRuns, false);
  watch.end_interval({0, 1});
  watch.wrote(3, kRuns, false);
  watch.wrote(4, {}, false);
  watch.end_interval({0, 2});
  watch.barrier(std::vector<Notice>{{2, 1, 1}, {3, 1, 2}, {3, 0, 1}}, false);
  watch.wrote(2, kRuns, true);
  watch.end_interval({1, 3});
  watch.barrier(std::vector<Notice>{{2, 0, 2}, {2, 1, 3}}, false);
  const RankProfile found = watch.profile(Ps{});
  ASSERT_EQ(found.writes.size(), 2u);
  EXPECT_EQ(found.writes[0].page, 3u);
  EXPECT_EQ(found.writes[0].epoch, 0u);
  EXPECT_EQ(found.clocks[found.writes[0].clock], (VectorTime{0, 2}));
  EXPECT_EQ(found.writes[1].page, 2u);
  EXPECT_EQ(found.writes[1].epoch, 1u);
  EXPECT_TRUE(found.writes[1].mixed);
  EXPECT_EQ(found.clocks[found.writes[1].clock], (VectorTime{1, 3}));
  EXPECT_EQ(found.clocks.size(), 2u);
}

TEST(Watch, KeepsReadsOfWhatOthersWrote) {
  Watch watch(16, 1, 2, Ps{});
  // Expect: neighbours are one read; other places, pages and intervals are others.
  watch.read(2, 0, 8, 100);
  watch.read(2, 8, 16, 100);
  watch.read(2, 8, 16, 200);
  watch.read(5, 0, 8, 100);
  watch.end_reads({0, 1});
  watch.wrote(3, kRuns, false);
  watch.end_interval({0, 2});
  watch.read(2, 0, 8, 100);
  watch.end_reads({0, 3});
  watch.barrier(std::vector<Notice>{{2, 0, 1}, {3, 1, 2}, {5, 1, 1}}, true);
  watch.read(2, 4, 8, 100);
  watch.end_reads({0, 4});
  watch.barrier(std::vector<Notice>{{2, 0, 2}}, true);
  const RankProfile found = watch.profile(Ps{});
  ASSERT_EQ(found.reads.size(), 4u);
  EXPECT_EQ(found.reads[0].begin, 0u);
  EXPECT_EQ(found.reads[0].end, 16u);
  EXPECT_EQ(found.reads[1].begin, 8u);
  EXPECT_EQ(found.clocks[found.reads[0].clock], (VectorTime{0, 1}));
  EXPECT_EQ(found.clocks[found.reads[2].clock], (VectorTime{0, 3}));
  EXPECT_EQ(found.reads[3].epoch, 1u);
  EXPECT_EQ(found.clocks[found.reads[3].clock], (VectorTime{0, 4}));
  // Expect: the write that nobody else's is beside may be read by others.
  ASSERT_EQ(found.writes.size(), 1u);
  EXPECT_EQ(found.clocks[found.writes[0].clock], (VectorTime{0, 2}));
  EXPECT_EQ(found.clocks.size(), 4u);
}

TEST(Watch, ClocksOfReleases) {
  Watch watch(16, 1, 3, Ps{});
  EXPECT_EQ(watch.clock(), (VectorTime{0, 1, 0}));
  watch.released();
  watch.acquired(VectorTime{4, 9, 2});
  // Expect: its own part is its own.
  EXPECT_EQ(watch.clock(), (VectorTime{4, 2, 2}));
  watch.clock_of(7)[0] = 5;
  EXPECT_EQ(watch.clock_of(7), (VectorTime{5, 0, 0}));
  EXPECT_EQ(watch.clock_of(8), (VectorTime{0, 0, 0}));
}

}  // namespace
}  // namespace fairlead::dsm
