#include "fairlead/base/handle_table.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead {
namespace {

TEST(HandleTable, finds_what_it_gave_out_and_nothing_else) {
  HandleTable<int, 2, 100> table;
  const Handle first = table.add(std::make_unique<int>(1));
  const Handle second = table.add(std::make_unique<int>(2));
  ASSERT_NE(first, 0u);
  ASSERT_NE(table.find(second), nullptr);
  EXPECT_EQ(*table.find(first), 1);
  EXPECT_EQ(*table.find(second), 2);
  EXPECT_EQ(table.at(table.index_of(second)), table.find(second));
  EXPECT_EQ(table.size(), 2u);
  // Expect: not what is near a handle, nor an index without an object
  for (unsigned bit = 0; bit < 64; ++bit) {
    const Handle other = first ^ Handle { 1 } << bit;
    EXPECT_TRUE(other == second || table.find(other) == nullptr) << bit;
  }
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.at(2), nullptr);
  // Expect: a handle of another kind is none, though index and generation are those of one
  HandleTable<int, 3, 100> others;
  EXPECT_EQ(table.find(others.add(std::make_unique<int>(3))), nullptr);
}

TEST(HandleTable, never_gives_a_number_twice) {
  HandleTable<int, 1, 4> table;
  std::set<Handle> given;
  Handle handle = 0;
  // More often than the 16 bits of a generation would count.
  for (int i = 0; i < 70000; ++i) {
    const Handle before = handle;
    handle = table.add(std::make_unique<int>(i));
    ASSERT_TRUE(given.insert(handle).second) << i;
    ASSERT_EQ(table.find(before), nullptr) << i;
    ASSERT_EQ(*table.find(handle), i);
    table.remove(handle);
  }
  // Expect: what is removed twice gives no entry out twice
  const Handle first = table.add(std::make_unique<int>(1));
  table.remove(handle);
  EXPECT_NE(table.find(first), nullptr);
  EXPECT_EQ(table.size(), 1u);
}

TEST(HandleTable, an_entry_retires_when_its_generations_are_used_up) {
  HandleTable<int, 1, 2, 2> table;
  std::set<Handle> given;
  // Three generations of each of two entries.
  for (int i = 0; i < 6; ++i) {
    const Handle handle = table.add(std::make_unique<int>(i));
    ASSERT_NE(handle, 0u) << i;
    EXPECT_TRUE(given.insert(handle).second) << i;
    table.remove(handle);
    EXPECT_EQ(table.size(), 0u);
  }
  EXPECT_EQ(table.add(std::make_unique<int>(6)), 0u);
  for (const Handle handle : given) EXPECT_EQ(table.find(handle), nullptr);
}

TEST(HandleTable, is_full_at_its_bound) {
  HandleTable<int, 1, 3> table;
  Handle handles[3];
  for (Handle& handle : handles) handle = table.add(std::make_unique<int>(0));
  EXPECT_EQ(table.add(std::make_unique<int>(0)), 0u);
  EXPECT_EQ(table.size(), 3u);
  table.remove(handles[1]);
  const Handle again = table.add(std::make_unique<int>(4));
  ASSERT_NE(again, 0u);
  int sum = 0;
  std::set<Handle> seen;
  table.for_each([&](Handle handle, int& value) {
    seen.insert(handle);
    sum += value;
  });
  EXPECT_EQ(sum, 4);
  EXPECT_EQ(seen, (std::set<Handle>{handles[0], again, handles[2]}));
}

TEST(HandleTable, pointers_of_programs_are_numbers) {
  EXPECT_EQ(number_of(pointer_of<void*>(0xfedcba9876543210)), 0xfedcba9876543210);
  EXPECT_EQ(number_of(static_cast<void*>(nullptr)), 0u);
}

}  // namespace
}  // namespace fairlead
