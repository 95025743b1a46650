#include "fairlead/systems/mpi/attributes.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::mpi {
namespace {

TEST(KeyTable, TakesKeysAgainThatAreFreed) {
  Keyvals keys;
  std::set<int> seen;
  for (int i = 0; i < 10'000; ++i) {
    const int key = keys.add({});
    EXPECT_NE(keys.find(key), nullptr);
    EXPECT_FALSE(keys.find(key)->freed);
    EXPECT_TRUE(keys.free(key));
    // Expect: it is known as freed for a while.
    EXPECT_FALSE(keys.free(key));
    seen.insert(key);
  }
  EXPECT_EQ(seen.size(), Keyvals::kUnusedKept + 1);
}

TEST(KeyTable, LeavesThoseThatAttributesHave) {
  Keyvals keys;
  const int kept = keys.add({});
  const int copied = keys.add({});
  keys.find(kept)->uses = 2;
  EXPECT_TRUE(keys.free(kept));
  EXPECT_TRUE(keys.free(kept));
  keys.forget(kept, 1);
  // One that an attribute has again after it was unused: it was copied while it was deleted.
  EXPECT_TRUE(keys.free(copied));
  keys.find(copied)->uses = 1;
  for (int i = 0; i < 1'000; ++i) {
    const int key = keys.add({});
    EXPECT_NE(key, kept);
    EXPECT_NE(key, copied);
    keys.free(key);
  }
  keys.forget(kept, 1);
  keys.forget(copied, 1);
  EXPECT_FALSE(keys.free(kept));
  // Expect: now they come again, once each as long as they are not freed.
  std::multiset<int> seen;
  for (std::size_t i = 0; i < 3 * Keyvals::kUnusedKept; ++i) {
    const int key = keys.add({});
    seen.insert(key);
    if (key != kept && key != copied) keys.free(key);
  }
  EXPECT_EQ(seen.count(kept), 1U);
  EXPECT_EQ(seen.count(copied), 1U);
}

}  // namespace
}  // namespace fairlead::mpi
