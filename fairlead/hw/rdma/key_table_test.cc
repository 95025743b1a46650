#include "fairlead/hw/rdma/key_table.h"

#include <gtest/gtest.h>

namespace fairlead::hw {
namespace {

TEST(KeyTable, AKeyReachesItsMemoryAndNoMore) {
  KeyTable table(1);
  const std::uint64_t key = table.add(1000, 64, true, true);
  // Expect: every range within it, the empty one at its end included.
  EXPECT_EQ(table.find(key, 0, 64, true, true), 1000u);
  EXPECT_EQ(table.find(key, 8, 8, false, true), 1008u);
  EXPECT_EQ(table.find(key, 64, 0, true, false), 1064u);
  // Expect: nothing beyond, whatever overflows.
  EXPECT_FALSE(table.find(key, 57, 8, true, false));
  EXPECT_FALSE(table.find(key, 65, 0, true, false));
  EXPECT_FALSE(table.find(key, ~std::uint64_t{0}, 2, true, false));
  EXPECT_FALSE(table.find(key, 8, ~std::uint64_t{0}, true, false));
}

TEST(KeyTable, RightsAreThoseGiven) {
  KeyTable table(1);
  const std::uint64_t read = table.add(0, 8, true, false);
  const std::uint64_t write = table.add(0, 8, false, true);
  // Expect: each what it was registered for, neither both.
  EXPECT_TRUE(table.find(read, 0, 8, true, false));
  EXPECT_FALSE(table.find(read, 0, 8, false, true));
  EXPECT_TRUE(table.find(write, 0, 8, false, true));
  EXPECT_FALSE(table.find(write, 0, 8, true, true));
}

TEST(KeyTable, AKeyIsWorthNothingOnceRemovedOrElsewhere) {
  KeyTable table(1);
  KeyTable other(2);
  const std::uint64_t key = table.add(0, 8, true, true);
  const std::uint64_t again = table.add(0, 8, true, true);
  EXPECT_FALSE(other.find(key, 0, 8, true, false));
  table.remove(key);
  // Expect: that one only; no key twice; the same keys in every run.
  EXPECT_FALSE(table.find(key, 0, 8, true, false));
  EXPECT_TRUE(table.find(again, 0, 8, true, false));
  EXPECT_NE(key, again);
  EXPECT_EQ(KeyTable(1).add(0, 1, true, true), key);
}

}  // namespace
}  // namespace fairlead::hw
