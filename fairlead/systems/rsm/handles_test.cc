#include "fairlead/systems/rsm/handles.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::rsm {
namespace {

using Table = HandleTable<int, HandleKind::imported>;

TEST(HandleTableTest, FindsWhatItGaveOutAndNothingElse) {
  Table table;
  const std::uint32_t seven = table.add(std::make_unique<int>(7));
  const std::uint32_t eight = table.add(std::make_unique<int>(8));
  EXPECT_EQ(kind_of(seven), HandleKind::imported);
  ASSERT_NE(table.find(seven), nullptr);
  EXPECT_EQ(*table.find(seven), 7);
  EXPECT_EQ(*table.find(eight), 8);
  // Expect: neither 0, nor another kind's, nor one that is not given out
  for (const std::uint32_t none : {0u, 3u, seven + 1, seven + 8 * 17, ~0u, seven | 1u << 16}) {
    EXPECT_EQ(table.find(none), nullptr) << none;
  }
  // Expect: a handle that was given back names nothing, not even its successor
  table.remove(seven);
  const std::uint32_t nine = table.add(std::make_unique<int>(9));
  EXPECT_EQ(table.find(seven), nullptr);
  EXPECT_EQ(*table.find(nine), 9);
  EXPECT_EQ(table.size(), 2u);
}

TEST(HandleTableTest, IsFullAtItsBound) {
  Table table;
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < Table::kMost; ++i) all.insert(table.add(std::make_unique<int>(0)));
  EXPECT_EQ(all.size(), Table::kMost);
  EXPECT_EQ(table.add(std::make_unique<int>(0)), 0u);
  table.remove(*all.begin());
  EXPECT_NE(table.add(std::make_unique<int>(0)), 0u);
}

TEST(HandleTableTest, PointersOfProgramsAreNumbers) {
  EXPECT_EQ(number_of(pointer_of<void*>(77)), 77u);
  EXPECT_EQ(number_of(reinterpret_cast<void*>(~std::uintptr_t{0})), 0u);
}

}  // namespace
}  // namespace fairlead::rsm
