#include "fairlead/lci/memory/own_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fairlead::lci {
namespace {

constexpr Rank kRanks = 3;
constexpr std::size_t kHeapBytes = 64 << 10;

struct alignas(4096) Page {
  std::byte bytes[4096];
};

// Parameter: whether there is a region.
class OwnMemoryTest : public testing::TestWithParam<bool> {
 protected:
  std::byte* allocated(SegId segment, std::size_t size) {
    return static_cast<std::byte*>(memory_.allocate(segment, size));
  }
  Exposed found(SegId segment, Rank who = 1) {
    Exposed what;
    return memory_.table().find(segment, who, &what) == Post::done ? what : Exposed{};
  }
  // Where the owner finds what is exposed.
  std::byte* address(const Exposed& what) {
    return what.in == ExposedIn::region ? memory_.region().data() + what.base
                                        : reinterpret_cast<std::byte*>(what.base);
  }

  std::vector<Page> pages_{(OwnMemory::table_bytes(kRanks) + kHeapBytes) / sizeof(Page)};
  OwnMemory memory_{
      kRanks, GetParam() ? std::as_writable_bytes(std::span(pages_)) : std::span<std::byte>{}};
};

TEST_P(OwnMemoryTest, WhatIsAllocatedIsZeroAndExposedToAll) {
  std::byte* const base = allocated(7, 5000);
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(std::count(base, base + 5000, std::byte{0}), 5000);
  const Exposed what = found(7);
  EXPECT_EQ(what.in, GetParam() ? ExposedIn::region : ExposedIn::process);
  EXPECT_EQ(address(what), base);
  EXPECT_EQ(what.size, 5000u);
  EXPECT_EQ(what.permissions, kRead | kWrite | kAtomic);
}

TEST_P(OwnMemoryTest, ASegmentIsAllocatedOnce) {
  std::byte* const base = allocated(7, 100);
  EXPECT_EQ(allocated(7, 100), nullptr);
  EXPECT_EQ(address(found(7)), base);
}

TEST_P(OwnMemoryTest, WithdrawnMemoryIsGoneAndComesBackZero) {
  for (int time = 0; time < 100; ++time) {
    // A quarter of the region: it must come back each time.
    std::byte* const base = allocated(7, kHeapBytes / 4);
    ASSERT_NE(base, nullptr);
    ASSERT_EQ(std::count(base, base + kHeapBytes / 4, std::byte{0}), kHeapBytes / 4);
    std::fill_n(base, kHeapBytes / 4, std::byte{1});
    EXPECT_EQ(memory_.withdraw(7), Post::done);
    EXPECT_EQ(found(7).in, ExposedIn::none);
  }
  EXPECT_EQ(memory_.withdraw(7), Post::invalid);
}

TEST_P(OwnMemoryTest, PartsOfTheRegionAreExposedAsSuchAndStayAllocated) {
  std::byte* const base = allocated(7, 4096);
  ASSERT_EQ(memory_.expose(8, base + 64, 128, kRead, nullptr, {}), Post::done);
  const Exposed what = found(8);
  EXPECT_EQ(what.in, GetParam() ? ExposedIn::region : ExposedIn::process);
  EXPECT_EQ(address(what), base + 64);
  EXPECT_EQ(what.permissions, kRead);
  EXPECT_EQ(memory_.withdraw(8), Post::done);
  // Expect: it was not given back with the part
  std::byte* const other = allocated(9, 4096);
  EXPECT_TRUE(other + 4096 <= base || base + 4096 <= other);
}

TEST_P(OwnMemoryTest, OtherMemoryIsFoundByAddressOrByItsAlias) {
  std::uint64_t mine[2] = {};
  std::uint64_t alias[2] = {};
  ASSERT_EQ(memory_.expose(1, mine, sizeof mine, kWrite, nullptr, {}), Post::done);
  ASSERT_EQ(memory_.expose(2, mine, sizeof mine, kWrite, alias, {}), Post::done);
  EXPECT_EQ(found(1).in, ExposedIn::process);
  EXPECT_EQ(address(found(1)), reinterpret_cast<std::byte*>(mine));
  EXPECT_EQ(address(found(2)), reinterpret_cast<std::byte*>(alias));
}

TEST_P(OwnMemoryTest, ExposedToSomeRanksOnly) {
  std::uint64_t word = 0;
  const Rank allowed[] = {2};
  ASSERT_EQ(memory_.expose(1, &word, sizeof word, kRead, nullptr, allowed), Post::done);
  EXPECT_EQ(found(1, 1).in, ExposedIn::none);
  EXPECT_EQ(found(1, 2).in, ExposedIn::process);
}

TEST_P(OwnMemoryTest, MoreThanThereIsIsRefused) {
  if (!GetParam()) GTEST_SKIP() << "as much as the process has";
  EXPECT_EQ(allocated(7, kHeapBytes + 1), nullptr);
  EXPECT_EQ(found(7).in, ExposedIn::none);
  EXPECT_NE(allocated(7, kHeapBytes), nullptr);
}

TEST_P(OwnMemoryTest, IsOnPagesOfItsOwn) {
  const std::byte* const first = allocated(7, 8);
  const std::byte* const second = allocated(8, 8);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 4096, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 4096, 0u);
}

TEST_P(OwnMemoryTest, ExposesMoreThanOneTableHolds) {
  std::uint64_t word = 0;
  SegId segment = 0;
  Post answer = Post::done;
  // In a small region until it is full.
  for (; segment < 5000 && answer == Post::done; ++segment) {
    answer = memory_.expose(segment, &word, 8, kRead, nullptr, {});
  }
  EXPECT_EQ(answer, GetParam() ? Post::again_buffer : Post::done);
  EXPECT_GE(segment, Exposures::kEntries);
  EXPECT_EQ(found(segment - 2).size, 8u);
}

TEST(OwnMemoryOfItsOwn, EndsAtWhatTheJobWasStartedWith) {
  OwnMemory memory(kRanks, {}, 12288);
  EXPECT_EQ(memory.allocate(1, 12289), nullptr);
  EXPECT_NE(memory.allocate(1, 6000), nullptr);
  EXPECT_EQ(memory.allocate(2, 6000), nullptr);
  ASSERT_EQ(memory.withdraw(1), Post::done);
  EXPECT_NE(memory.allocate(2, 12288), nullptr);
}

TEST(OwnMemoryOfItsOwn, IsThereAtASecondAddress) {
  OwnMemory memory(kRanks, {});
  auto* const at = static_cast<std::byte*>(memory.allocate(1, 5000));
  at[4999] = std::byte{4};
  auto* const again = static_cast<std::byte*>(memory.alias(1));
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again[4999], std::byte{4});
  again[0] = std::byte{5};
  EXPECT_EQ(at[0], std::byte{5});
  EXPECT_EQ(memory.alias(1), again);
  EXPECT_EQ(memory.alias(2), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Where, OwnMemoryTest, testing::Values(true, false),
                         [](const auto& where) { return where.param ? "region" : "process"; });

}  // namespace
}  // namespace fairlead::lci
