#include "fairlead/lci/memory/region_heap.h"

#include <gtest/gtest.h>

#include <map>

#include "fairlead/base/prng.h"

namespace fairlead::lci {
namespace {

TEST(RegionHeap, AlignsAndEndsWithAnAnswer) {
  RegionHeap heap(4096, 4096 + 12288);
  bool used = true;
  const std::uint64_t small = heap.allocate(8, &used);
  EXPECT_EQ(small, 4096u);
  EXPECT_FALSE(used);
  const std::uint64_t page = heap.allocate(5000, &used);
  // Expect: all begin on a page; more than there is gets no offset.
  EXPECT_EQ(page, 8192u);
  EXPECT_EQ(heap.allocate(10000, &used), RegionHeap::kNone);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0}, &used), RegionHeap::kNone);
  heap.free(page, 5000);
  EXPECT_EQ(heap.allocate(5000, &used), page);
  EXPECT_TRUE(used);
}

TEST(RegionHeap, PiecesNeverOverlapAndAllComesBack) {
  constexpr std::uint64_t kEnd = 1 << 20;
  RegionHeap heap(0, kEnd);
  Prng prng(3);
  std::map<std::uint64_t, std::uint64_t> live;
  for (int i = 0; i < 20000; ++i) {
    bool used = false;
    if (live.empty() || prng.chance(0.55)) {
      const std::uint64_t size = prng.below(20000);
      const std::uint64_t at = heap.allocate(size, &used);
      if (at == RegionHeap::kNone) continue;
      const auto next = live.lower_bound(at);
      // Expect: no overlap with a neighbour.
      ASSERT_TRUE(next == live.end() || at + size <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= at);
      ASSERT_LE(at + size, kEnd);
      live[at] = size;
    } else {
      auto victim = live.lower_bound(prng.below(kEnd));
      if (victim == live.end()) victim = live.begin();
      heap.free(victim->first, victim->second);
      live.erase(victim);
    }
  }
  for (const auto& [at, size] : live) heap.free(at, size);
  bool used = false;
  // Expect: joined to one piece again.
  EXPECT_EQ(heap.allocate(kEnd - 8192, &used) % 4096, 0u);
}

}  // namespace
}  // namespace fairlead::lci
