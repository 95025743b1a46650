// Types against a slow, obvious model of them.
#include "fairlead/systems/mpi/datatypes/cursor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/datatypes/making.h"
#include "fairlead/systems/mpi/datatypes/slow_types.h"

namespace fairlead::mpi {
namespace {

TEST(Cursor, RandomTypesLieAsTheSlowModelSays) {
  constexpr unsigned kTypes = 6000;
  for (unsigned seed = 0; seed < kTypes; ++seed) {
    std::mt19937 random(seed);
    slow::Maker maker([&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    });
    const slow::Both type = maker.make(static_cast<int>(seed % 5));
    ASSERT_NE(type.fast, nullptr) << seed;
    ASSERT_EQ(slow::difference(maker, type), "") << seed;
  }
}

TEST(Layout, NormalFormIsShort) {
  const TypeRef number = take_body(MPI_DOUBLE);
  // Expect: what lies in a row is a run, whatever it was made by.
  const TypeRef row = make_vector(*number, 10, 3, 24, {});
  EXPECT_TRUE(row->layout->is_contiguous(5));
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back({i * 8, 1, number.get()});
  EXPECT_TRUE(make_blocks(blocks, false, {})->layout->is_contiguous(2));
  // Expect: equal blocks at equal distances are a repetition.
  for (int i = 0; i < 100; ++i) blocks[static_cast<std::size_t>(i)].at = i * 24;
  const TypeRef strided = make_blocks(blocks, false, {});
  EXPECT_EQ(strided->layout->node().kind, LayoutNode::Kind::repeat);
  EXPECT_EQ(strided->layout->node().stride, 24);
  const TypeRef more = make_vector(*make_resized(*strided, 0, 2400, {}), 5, 1, 2400, {});
  EXPECT_EQ(more->layout->node().count, 500u);
  EXPECT_EQ(more->layout->node().child->kind, LayoutNode::Kind::run);
}

TEST(Making, WhatDoesNotFitIsRefused) {
  const TypeRef number = take_body(MPI_DOUBLE);
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(make_vector(*number, kHuge, kHuge, 8, {}), nullptr);
  EXPECT_EQ(make_vector(*number, 4, 1, kHuge, {}), nullptr);
  EXPECT_EQ(make_resized(*number, kHuge, kHuge, {}), nullptr);
  const Block far[] = {{-kHuge - 1000, 1, number.get()}, {kHuge + 1000, 1, number.get()}};
  EXPECT_EQ(make_blocks(far, false, {}), nullptr);
  // Expect: trees that no normal form makes flat are refused when they are too deep to walk.
  const TypeRef byte = take_body(MPI_CHAR);
  TypeRef nested = byte;
  TypeRef next = nested;
  int deep = 0;
  for (; next != nullptr && deep < 5000; ++deep) {
    nested = next;
    const Block parts[] = {{0, 2, nested.get()}, {2 * nested->extent() + 3, 1, byte.get()}};
    next = make_blocks(parts, false, {});
    if (next != nullptr) next = make_resized(*next, 0, 64, {});
  }
  EXPECT_GT(deep, 40);
  EXPECT_LT(deep, 5000);
}

TEST(Making, LongChainsOfTypesEnd) {
  TypeRef last = take_body(MPI_INT);
  for (int i = 0; i < 200000; ++i) {
    Contents contents;
    contents.types.push_back(last);
    last = make_copy(*last, std::move(contents));
  }
  EXPECT_EQ(last->size(), 4u);
}

}  // namespace
}  // namespace fairlead::mpi
