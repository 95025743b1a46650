#include "fairlead/systems/splitc/block_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/systems/splitc/other_stack.h"

namespace fairlead::splitc {
namespace {

class BlockHeapTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 64 << 10;
  void begin() { heap_.begin(memory_, kBytes); }

  alignas(64) std::byte memory_[kBytes] = {};
  BlockHeap heap_;
};

TEST_F(BlockHeapTest, it_has_nothing_before_it_begins) {
  EXPECT_EQ(heap_.allocate(8, 1), nullptr);
  EXPECT_FALSE(heap_.has(memory_));
  EXPECT_FALSE(heap_.has(nullptr));
}

TEST_F(BlockHeapTest, blocks_are_apart_and_lie_in_its_memory) {
  begin();
  std::vector<char*> blocks;
  for (std::size_t i = 0; i < 100; ++i) {
    auto* const block = static_cast<char*>(heap_.allocate(i, 1));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0U);
    EXPECT_TRUE(heap_.has(block));
    EXPECT_GE(heap_.size(block), i);
    std::memset(block, static_cast<int>(i), i);
    blocks.push_back(block);
  }
  // Expect: each has what was written to it.
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(blocks[i][j], static_cast<char>(i));
    heap_.free(blocks[i]);
  }
  EXPECT_FALSE(heap_.has(memory_ + kBytes));
}

TEST_F(BlockHeapTest, what_is_freed_is_given_out_again_whole) {
  begin();
  void* const most = heap_.allocate(kBytes / 2, 1);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(heap_.allocate(kBytes / 2, 1), nullptr);
  EXPECT_EQ(heap_.allocate(~std::size_t{0}, 1), nullptr);
  heap_.free(most);
  std::vector<void*> small;
  while (void* const block = heap_.allocate(100, 1)) small.push_back(block);
  EXPECT_GT(small.size(), kBytes / 200);
  for (void* const block : small) heap_.free(block);
  EXPECT_NE(heap_.allocate(kBytes / 2, 1), nullptr);
}

TEST_F(BlockHeapTest, blocks_lie_where_their_alignment_wants_them) {
  begin();
  for (const std::size_t align : {32U, 64U, 256U, 4096U}) {
    void* const block = heap_.allocate(24, align);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % align, 0U);
    heap_.free(block);
  }
}

TEST_F(BlockHeapTest, a_block_grows_where_there_is_room_behind_it) {
  begin();
  auto* const block = static_cast<char*>(heap_.allocate(100, 1));
  std::memset(block, 7, 100);
  EXPECT_TRUE(heap_.grow(block, 1000));
  EXPECT_GE(heap_.size(block), 1000U);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(block[i], 7);
  void* const behind = heap_.allocate(kBytes / 2, 1);
  ASSERT_NE(behind, nullptr);
  EXPECT_FALSE(heap_.grow(block, kBytes - 100));
  EXPECT_FALSE(heap_.grow(block, ~std::size_t{0}));
  EXPECT_TRUE(heap_.grow(block, 10));
}

TEST(OtherStack, a_call_has_its_variables_there_and_its_answer_comes_back) {
  std::vector<std::byte> stack(256 << 10);
  std::uintptr_t variable = 0;
  const int answer = call_on_stack(
      stack,
      [](void* argument) {
        volatile std::byte here{};
        *static_cast<std::uintptr_t*>(argument) = reinterpret_cast<std::uintptr_t>(&here);
        return 42;
      },
      &variable);
  EXPECT_EQ(answer, 42);
  EXPECT_LT(variable - reinterpret_cast<std::uintptr_t>(stack.data()), stack.size());
}

}  // namespace
}  // namespace fairlead::splitc
