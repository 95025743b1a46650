#include "fairlead/base/spare_memory.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(SpareMemory, WhatWasGivenIsTakenAgain) {
  SpareMemory spares;
  SpareMemory::Piece large = spares.take(100'000);
  SpareMemory::Piece small = spares.take(1000);
  const std::byte* const large_at = large.memory.get();
  const std::byte* const small_at = small.memory.get();
  spares.give(std::move(small));
  spares.give(std::move(large));
  // Expect: one that is large enough, and none twice
  large = spares.take(50'000);
  EXPECT_EQ(large.memory.get(), large_at);
  EXPECT_EQ(large.size, 100'000u);
  SpareMemory::Piece other = spares.take(50'000);
  EXPECT_NE(other.memory.get(), large_at);
  EXPECT_EQ(spares.take(10).memory.get(), small_at);
}

TEST(SpareMemory, TheLargestStayAndNoneThatIsTooLarge) {
  SpareMemory spares;
  for (const std::uint64_t size : {1000u, 3000u, 2000u, 500u}) {
    spares.give({std::make_unique<std::byte[]>(size), size});
  }
  spares.give(
      {std::make_unique<std::byte[]>(SpareMemory::kBytesMax + 1), SpareMemory::kBytesMax + 1});
  EXPECT_EQ(spares.take(1).size + spares.take(1).size, 5000u);
  // Expect: no more
  EXPECT_EQ(spares.take(1).size, 1u);
}

}  // namespace
}  // namespace fairlead
