#include "fairlead/systems/dsm/lock_table.h"

#include <gtest/gtest.h>

namespace fairlead::dsm {
namespace {

TEST(Locks, GoToWhoAskedFirst) {
  LockTable locks;
  EXPECT_TRUE(locks.acquire(4, {1, {}}));
  EXPECT_FALSE(locks.acquire(4, {3, {1, 2}}));
  EXPECT_FALSE(locks.acquire(4, {2, {}}));
  EXPECT_TRUE(locks.acquire(5, {3, {}})) << "another lock";
  auto [held, next] = locks.release(4, 1);
  EXPECT_TRUE(held);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->rank, 3u);
  EXPECT_EQ(next->time, (VectorTime{1, 2}));
  EXPECT_EQ(locks.release(4, 3).second->rank, 2u);
  EXPECT_FALSE(locks.release(4, 2).second.has_value());
  EXPECT_TRUE(locks.acquire(4, {0, {}}));
}

TEST(Locks, AreReleasedByTheirHolderOnly) {
  LockTable locks;
  EXPECT_FALSE(locks.release(4, 1).first);
  EXPECT_TRUE(locks.acquire(4, {1, {}}));
  EXPECT_FALSE(locks.release(4, 2).first);
  EXPECT_TRUE(locks.release(4, 1).first);
}

}  // namespace
}  // namespace fairlead::dsm
