#include "fairlead/base/range_allocator.h"

#include <gtest/gtest.h>

#include "fairlead/base/prng.h"

namespace fairlead {
namespace {

TEST(RangeAllocator, gives_the_first_place_that_fits) {
  RangeAllocator heap(1024);
  EXPECT_EQ(heap.find(100, 1, 0), 0u);
  heap.take(0, 100);
  EXPECT_EQ(heap.find(8, 1, 0), 112u);
  EXPECT_EQ(heap.find(8, 256, 0), 256u);
  heap.take(256, 8);
  // Expect: the hole between them serves what fits
  EXPECT_EQ(heap.find(144, 1, 0), 112u);
  EXPECT_EQ(heap.find(145, 1, 0), 272u);
  EXPECT_EQ(heap.find(144, 1, 113), 272u);
  EXPECT_EQ(heap.find(752, 1, 0), 272u);
  EXPECT_EQ(heap.find(753, 1, 0), RangeAllocator::kNone);
  EXPECT_EQ(heap.find(~std::uint64_t{0}, 1, 0), RangeAllocator::kNone);
  EXPECT_EQ(heap.size_at(0), 100u);
  EXPECT_EQ(heap.size_at(16), 0u);
  EXPECT_FALSE(heap.free(16));
  EXPECT_TRUE(heap.free(0));
  EXPECT_EQ(heap.find(256, 1, 0), 0u);
}

TEST(RangeAllocator, never_gives_out_a_byte_twice) {
  Prng prng(7);
  RangeAllocator heap(64 * 1024);
  std::map<std::uint64_t, std::uint64_t> mine;
  for (int i = 0; i < 4000; ++i) {
    if (prng.below(3) == 0 && !mine.empty()) {
      auto at = mine.begin();
      std::advance(at, static_cast<long>(prng.below(mine.size())));
      ASSERT_TRUE(heap.free(at->first));
      mine.erase(at);
      continue;
    }
    const std::uint64_t size = prng.below(2000);
    const std::uint64_t align = std::uint64_t{1} << prng.below(10);
    const std::uint64_t at = heap.find(size, align, 0);
    if (at == RangeAllocator::kNone) continue;
    ASSERT_EQ(at % align, 0u);
    ASSERT_LE(at + size, heap.bytes());
    const auto next = mine.lower_bound(at);
    if (next != mine.end()) {
      ASSERT_LE(at + std::max<std::uint64_t>(size, 1), next->first);
    }
    if (next != mine.begin()) {
      const auto before = std::prev(next);
      ASSERT_LE(before->first + std::max<std::uint64_t>(before->second, 1), at);
    }
    heap.take(at, size);
    mine[at] = size;
  }
  for (const auto& each : mine) ASSERT_TRUE(heap.free(each.first));
  EXPECT_EQ(heap.used(), 0u);
}

}  // namespace
}  // namespace fairlead
