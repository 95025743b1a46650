#include "fairlead/systems/mpi/pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fairlead::mpi {
namespace {

struct Thing {
  std::uint32_t id = 0;
  Thing* next_free = nullptr;
};

TEST(Pool, ObjectsInUseAreFoundByTheirIds) {
  Pool<Thing> pool;
  std::vector<Thing*> taken;
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 100; ++i) {
    taken.push_back(pool.take());
    ids.insert(taken.back()->id);
  }
  EXPECT_EQ(ids.size(), 100u);
  for (Thing* thing : taken) EXPECT_EQ(pool.find(thing->id), thing);
  // Expect: ids of nobody, among them those that lie around the real ones, find nothing.
  EXPECT_EQ(pool.find(0), nullptr);
  EXPECT_EQ(pool.find(taken[3]->id + (1u << 24)), nullptr);
  EXPECT_EQ(pool.find(200), nullptr);
  EXPECT_EQ(pool.find(0xffffffu), nullptr);
  EXPECT_EQ(pool.find(~std::uint32_t{0}), nullptr);
}

TEST(Pool, AnIdIsNever0AndChangesWithEveryUseAlsoWhereItsGenerationWraps) {
  Pool<Thing> pool;
  Thing* const only = pool.take();
  for (int use = 0; use < 600; ++use) {
    const std::uint32_t before = only->id;
    pool.give(only);
    ASSERT_EQ(pool.take(), only);
    ASSERT_NE(only->id, 0u) << use;
    ASSERT_NE(only->id, before) << use;
    // Expect: the object is found by its id of now, not by the one before.
    ASSERT_EQ(pool.find(only->id), only) << use;
    ASSERT_EQ(pool.find(before), nullptr) << use;
  }
}

}  // namespace
}  // namespace fairlead::mpi
