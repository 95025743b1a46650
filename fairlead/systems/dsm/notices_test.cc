#include "fairlead/systems/dsm/notices.h"

#include <gtest/gtest.h>

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
