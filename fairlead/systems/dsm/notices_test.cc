#include "fairlead/systems/dsm/notices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace fairlead::dsm {
namespace {

TEST(Notices, GoToWhoHasNotHeardOfThem) {
  NoticeLog log(3);
  const std::vector<Notice> notices = {{5, 0, 1}, {6, 0, 2}, {5, 2, 7}};
  log.add(notices);
  EXPECT_EQ(log.time(), (VectorTime{2, 0, 7}));
  EXPECT_EQ(log.newer_than(VectorTime{0, 0, 0}), notices);
  EXPECT_EQ(log.newer_than(VectorTime{1, 9, 7}), (std::vector<Notice>{{6, 0, 2}}));
  EXPECT_TRUE(log.newer_than(VectorTime{2, 0, 7}).empty());
}

// A lock's releases bring what their ranks heard of, again and again.
TEST(Notices, AreKeptOnce) {
  NoticeLog log(2);
  const std::vector<Notice> interval = {{1, 0, 1}, {2, 0, 1}};
  log.add(interval);
  log.add(std::vector<Notice>{{1, 0, 1}, {2, 0, 1}, {3, 0, 2}, {4, 0, 2}});
  EXPECT_EQ(log.size(), 4u);
  EXPECT_EQ(log.newer_than(VectorTime{1, 0}), (std::vector<Notice>{{3, 0, 2}, {4, 0, 2}}));
  log.drop_covered(VectorTime{2, 0});
  log.add(interval);
  EXPECT_EQ(log.size(), 0u) << "every rank had heard of it";
}

// Between two barriers a lock may be taken any number of times.
TEST(Notices, AreAsManyAsPagesAndWritersNotAsIntervals) {
  NoticeLog log(2);
  constexpr std::uint32_t kIntervals = 100'000;
  for (std::uint32_t seq = 1; seq <= kIntervals; ++seq) {
    const std::vector<Notice> interval = {{7, 0, seq}, {8 + seq % 3, 0, seq}};
    // Expect: what is new is told, whatever goes.
    const std::span<const Notice> added = log.add(interval);
    ASSERT_EQ((std::vector<Notice>(added.begin(), added.end())), interval);
    ASSERT_LE(log.size(), kNoticesLeast + 2);
  }
  log.add(std::vector<Notice>{{7, 1, 5}});
  // Expect: who has heard of nothing, or of little, hears of the newest of each page and writer.
  EXPECT_EQ(log.time(), (VectorTime{kIntervals, 5}));
  for (const std::uint32_t known : {0U, kIntervals - 2}) {
    std::map<std::pair<PageId, std::uint32_t>, std::uint32_t> newest;
    for (const Notice& notice : log.newer_than(VectorTime{known, 0})) {
      std::uint32_t& seq = newest[{notice.page, notice.writer}];
      seq = std::max(seq, notice.seq);
    }
    EXPECT_EQ((newest[{7, 0}]), kIntervals);
    EXPECT_EQ((newest[{8 + kIntervals % 3, 0}]), kIntervals);
    EXPECT_EQ((newest[{8 + (kIntervals - 1) % 3, 0}]), kIntervals - 1);
    EXPECT_EQ((newest[{7, 1}]), 5U);
  }
  EXPECT_TRUE(log.newer_than(VectorTime{kIntervals, 5}).empty());
}

TEST(Notices, TheNewestOfEachPageAndWriterAreAllThereIs) {
  NoticeLog log(2);
  log.add(std::vector<Notice>{{1, 0, 1}, {2, 0, 1}});
  log.add(std::vector<Notice>{{1, 0, 2}});
  log.add(std::vector<Notice>{{1, 1, 7}});
  const std::span<const Notice> newest = log.newest();
  EXPECT_EQ((std::vector<Notice>(newest.begin(), newest.end())),
            (std::vector<Notice>{{1, 0, 2}, {1, 1, 7}, {2, 0, 1}}));
  EXPECT_EQ(log.size(), 3u);
  EXPECT_EQ(log.time(), (VectorTime{2, 7}));
}

TEST(Notices, DroppedOnesLeaveTheirTime) {
  NoticeLog log(2);
  log.add(std::vector<Notice>{{1, 0, 1}, {2, 1, 1}, {3, 1, 2}});
  log.drop_covered(VectorTime{1, 1});
  EXPECT_EQ(log.size(), 1u);
  EXPECT_EQ(log.newer_than(VectorTime{0, 0}), (std::vector<Notice>{{3, 1, 2}}));
  EXPECT_EQ(log.time(), (VectorTime{1, 2}));
}

}  // namespace
}  // namespace fairlead::dsm
