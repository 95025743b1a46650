#include "fairlead/hw/rdma/table_cache.h"

#include <gtest/gtest.h>

namespace fairlead::hw {
namespace {

TEST(TableCache, TheEntryThatWasNotUsedForLongestMakesRoom) {
  TableCache cache(2);
  EXPECT_FALSE(cache.use({0, 1}));
  EXPECT_FALSE(cache.use({0, 2}));
  EXPECT_TRUE(cache.use({0, 1}));
  EXPECT_FALSE(cache.use({0, 3}));
  // Expect: 2 went, which 1 was used after.
  EXPECT_TRUE(cache.use({0, 1}));
  EXPECT_FALSE(cache.use({0, 2}));
  // Expect: another table's is another.
  EXPECT_FALSE(cache.use({1, 2}));
  EXPECT_EQ(cache.hits(), 2u);
  EXPECT_EQ(cache.misses(), 5u);
}

TEST(TableCache, AWholeTableMissesNothing) {
  TableCache cache(0);
  for (std::uint64_t entry = 0; entry < 1000; ++entry) EXPECT_TRUE(cache.use({0, entry}));
  EXPECT_EQ(cache.misses(), 0u);
}

}  // namespace
}  // namespace fairlead::hw
