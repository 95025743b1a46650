#include "fairlead/base/pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fairlead {
namespace {

struct Object {
  std::uint32_t id = 0;
  Object* next_free = nullptr;
};

TEST(Pool, no_id_is_0_however_often_an_object_is_used) {
  Pool<Object> pool;
  Object* first = pool.take();
  std::set<std::uint32_t> ids;
  for (int use = 0; use < 1000; ++use) {
    // Expect: an id that finds this object, and is not the "none" of the wire.
    EXPECT_NE(first->id, 0u) << use;
    EXPECT_EQ(pool.find(first->id), first) << use;
    ids.insert(first->id);
    pool.give(first);
    ASSERT_EQ(pool.take(), first);
  }
  // Expect: 256 generations of it.
  EXPECT_EQ(ids.size(), 256u);
}

TEST(Pool, ids_of_objects_in_use_differ) {
  Pool<Object> pool;
  std::set<std::uint32_t> ids;
  std::vector<Object*> taken;
  for (int i = 0; i < 5000; ++i) {
    taken.push_back(pool.take());
    ids.insert(taken.back()->id);
  }
  EXPECT_EQ(ids.size(), taken.size());
  for (Object* object : taken) EXPECT_EQ(pool.find(object->id), object);
}

TEST(Pool, an_id_of_an_earlier_use_finds_nothing) {
  Pool<Object> pool;
  Object* object = pool.take();
  const std::uint32_t old = object->id;
  for (int use = 0; use < 255; ++use) {
    pool.give(object);
    ASSERT_EQ(pool.take(), object);
    EXPECT_EQ(pool.find(old), nullptr) << use;
  }
}

TEST(Pool, ids_nobody_gave_find_nothing) {
  Pool<Object> pool;
  // Expect: nothing, also before there is an object.
  for (const std::uint32_t id : {0u, 1u, 0xffffffu, 0x1000000u, 0xffffffffu}) {
    EXPECT_EQ(pool.find(id), nullptr) << id;
  }
  pool.take();
  for (const std::uint32_t id : {0u, 5u, 0xffffffu, 0x1000000u, 0xffffffffu}) {
    EXPECT_EQ(pool.find(id), nullptr) << id;
  }
}

}  // namespace
}  // namespace fairlead
