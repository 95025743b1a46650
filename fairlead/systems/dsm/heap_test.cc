#include "fairlead/systems/dsm/heap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fairlead/base/sanitized.h"
#include "fairlead/systems/dsm/dsm.h"

// ThreadSanitizer has no shadow of memory at the heap's address.
#ifndef FAIRLEAD_TSAN

namespace fairlead::dsm {
namespace {

class HeapTest : public testing::Test {
 protected:
  void* allocate(std::size_t bytes) {
    bool reused = false;
    void* const block = heap_.allocate(bytes, reused);
    reused_ = reused;
    return block;
  }
  Result<Memory> memory_ = Memory::map(64 * kPageBytes);
  std::uint64_t taken_ = 0;
  Heap heap_{memory_.value(), [this](std::uint64_t count) {
               const std::uint64_t first = taken_;
               taken_ += count;
               return first;
             }};
  bool reused_ = false;
};

TEST_F(HeapTest, BlocksDoNotMeet) {
  std::vector<std::pair<std::uintptr_t, std::size_t>> blocks;
  for (std::size_t bytes : {1, 16, 17, 100, 2047, 2048, 4096, 4097, 0, 333}) {
    void* const block = allocate(bytes);
    ASSERT_NE(block, nullptr) << bytes;
    const auto at = reinterpret_cast<std::uintptr_t>(block);
    EXPECT_EQ(at % (bytes >= 2048 ? kPageBytes : Heap::kAlignment), 0u) << bytes;
    blocks.emplace_back(at, std::max<std::size_t>(bytes, 1));
  }
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    EXPECT_GE(blocks[i].first, blocks[i - 1].first + blocks[i - 1].second);
  }
}

TEST_F(HeapTest, GivesAgainWhatCameBack) {
  void* const block = allocate(100);
  EXPECT_FALSE(reused_);
  EXPECT_EQ(heap_.free(block), 100u);
  EXPECT_EQ(heap_.free(block), 0u) << "twice";
  EXPECT_EQ(allocate(112), block);
  EXPECT_TRUE(reused_);
}

TEST_F(HeapTest, SaysWhenItIsFull) {
  EXPECT_EQ(allocate(65 * kPageBytes), nullptr);
  EXPECT_EQ(allocate(~std::size_t{0}), nullptr);
  taken_ = 0;
  EXPECT_NE(allocate(64 * kPageBytes), nullptr);
  EXPECT_EQ(allocate(8), nullptr);
}

}  // namespace
}  // namespace fairlead::dsm

#endif
