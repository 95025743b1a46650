#include "fairlead/lci/memory/exposures.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::lci {
namespace {

// Segments a table takes before it asks for its next part.
constexpr std::uint32_t kFirst = Exposures::kEntries / 4 * 3;

class ExposuresTest : public ::testing::Test {
 protected:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory_ = std::vector<Line>(Exposures::bytes(100) / 64 + 1);
  Exposures table_{memory_[0].bytes, 100};
};

TEST_F(ExposuresTest, FindsWhatWasAddedForWhoMayUseIt) {
  const Rank only[] = {3, 99};
  ASSERT_EQ(table_.add(7, {ExposedIn::process, kRead, 1000, 50}, only), Post::done);
  ASSERT_EQ(table_.add(8, {ExposedIn::region, kWrite, 64, 8}, {}), Post::done);
  Exposed what;
  // Expect: listed ranks only; everybody where there is no list; nothing unknown.
  EXPECT_EQ(table_.find(7, 3, &what), Post::done);
  EXPECT_EQ(what.base, 1000u);
  EXPECT_EQ(table_.find(7, 99, &what), Post::done);
  EXPECT_EQ(table_.find(7, 4, &what), Post::denied);
  EXPECT_EQ(table_.find(7, 100000, &what), Post::denied);
  EXPECT_EQ(table_.find(8, 4, &what), Post::done);
  EXPECT_EQ(what.in, ExposedIn::region);
  EXPECT_EQ(table_.find(9, 4, &what), Post::invalid);
  EXPECT_EQ(table_.add(7, {}, {}), Post::invalid);
}

TEST_F(ExposuresTest, GrantsChangeInPlace) {
  const Rank before[] = {3};
  const Rank after[] = {4, 99};
  ASSERT_EQ(table_.add(7, {ExposedIn::process, kRead, 1000, 50}, before), Post::done);
  ASSERT_EQ(table_.regrant(7, kRead | kWrite, after), Post::done);
  Exposed what;
  EXPECT_EQ(table_.find(7, 3, &what), Post::denied);
  EXPECT_EQ(table_.find(7, 4, &what), Post::done);
  EXPECT_EQ(what.permissions, std::uint32_t{kRead | kWrite});
  EXPECT_EQ(what.base, 1000u);
  // Expect: to all; and nothing changes where it cannot be
  const Rank none[] = {100000};
  EXPECT_EQ(table_.regrant(7, kWrite, none), Post::invalid);
  EXPECT_EQ(table_.regrant(8, kWrite, {}), Post::invalid);
  EXPECT_EQ(table_.find(7, 3, &what), Post::denied);
  EXPECT_EQ(table_.regrant(7, kWrite, {}), Post::done);
  EXPECT_EQ(table_.find(7, 3, &what), Post::done);
}

TEST_F(ExposuresTest, WhatWasWithdrawnIsToldFromWhatNeverWas) {
  Exposed what;
  ASSERT_EQ(table_.add(0, {ExposedIn::process, kRead, 1, 1}, {}), Post::done);
  ASSERT_EQ(table_.add(7, {ExposedIn::process, kRead, 1, 1}, {}), Post::done);
  (void)table_.remove(7);
  (void)table_.remove(0);
  EXPECT_EQ(table_.find(7, 1, &what), Post::withdrawn);
  EXPECT_EQ(table_.find(0, 1, &what), Post::withdrawn);
  EXPECT_EQ(table_.find(8, 1, &what), Post::invalid);
  EXPECT_EQ(table_.regrant(7, kRead, {}), Post::invalid);
  // Expect: exposed again it is there, and the oldest are forgotten
  ASSERT_EQ(table_.add(7, {ExposedIn::process, kRead, 1, 1}, {}), Post::done);
  EXPECT_EQ(table_.find(7, 1, &what), Post::done);
  for (SegId i = 0; i < Exposures::kWithdrawn; ++i) {
    ASSERT_EQ(table_.add(100 + i, {ExposedIn::process, kRead, 1, 1}, {}), Post::done);
    (void)table_.remove(100 + i);
  }
  EXPECT_EQ(table_.find(0, 1, &what), Post::invalid);
  EXPECT_EQ(table_.find(100, 1, &what), Post::withdrawn);
}

TEST_F(ExposuresTest, GoesOnInFurtherPartsAndWorksAfterAnyNumberOfUses) {
  constexpr std::uint32_t kCount = kFirst * 3;
  std::vector<Line> more(table_.next_part() / 64);
  for (std::uint32_t i = 0; i < kFirst; ++i)
    ASSERT_EQ(table_.add(i * 17, {ExposedIn::process, kRead, i, 1}, {}), Post::done);
  EXPECT_EQ(table_.add(5, {ExposedIn::process, kRead, 0, 1}, {}), Post::again_buffer);
  table_.go_on(more[0].bytes);
  const Rank only[] = {99};
  for (std::uint32_t i = kFirst; i < kCount; ++i)
    ASSERT_EQ(table_.add(i * 17, {ExposedIn::process, kRead, i, 1}, only), Post::done);
  EXPECT_EQ(table_.add(5, {ExposedIn::process, kRead, 0, 1}, {}), Post::again_buffer);
  EXPECT_EQ(table_.add(17 * 2000, {ExposedIn::process, kRead, 0, 1}, {}), Post::invalid);
  Exposed what;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(table_.find(i * 17, 99, &what), Post::done);
    ASSERT_EQ(what.base, i);
  }
  EXPECT_EQ(table_.find(17 * 2000, 98, &what), Post::denied);
  ASSERT_EQ(table_.regrant(17 * 2000, kRead, {}), Post::done);
  EXPECT_EQ(table_.find(17 * 2000, 98, &what), Post::done);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(table_.remove(i * 17).base, i);
  // Expect: names come and go without end.
  for (std::uint32_t i = 0; i < 100000; ++i) {
    ASSERT_EQ(table_.add(i, {ExposedIn::process, kRead, i, 1}, {}), Post::done);
    ASSERT_EQ(table_.find(i, 0, &what), Post::done);
    ASSERT_EQ(what.base, i);
    ASSERT_EQ(table_.remove(i).base, i);
    ASSERT_EQ(table_.find(i, 0, &what), Post::withdrawn);
  }
  EXPECT_EQ(table_.remove(1).in, ExposedIn::none);
}

TEST_F(ExposuresTest, EndsAtItsBound) {
  std::vector<std::vector<Line>> parts;
  std::uint32_t segment = 0;
  for (; table_.next_part() > 0; table_.go_on(parts.back()[0].bytes)) {
    parts.emplace_back(table_.next_part() / 64);
  }
  while (table_.add(segment, {ExposedIn::process, kRead, segment, 1}, {}) == Post::done) ++segment;
  EXPECT_EQ(segment, kFirst * ((1U << Exposures::kParts) - 1));
}

TEST_F(ExposuresTest, TakesAllThereIsWhereItIsTold) {
  for (std::uint32_t i = 0; i < Exposures::kEntries; ++i)
    ASSERT_EQ(table_.add(i, {ExposedIn::process, kRead, i, 1}, {}, /*crowded=*/true), Post::done);
  EXPECT_EQ(table_.add(5000, {ExposedIn::process, kRead, 0, 1}, {}, true), Post::again_buffer);
  Exposed what;
  for (std::uint32_t i = 0; i < Exposures::kEntries; ++i) {
    ASSERT_EQ(table_.find(i, 0, &what), Post::done);
    ASSERT_EQ(what.base, i);
  }
  EXPECT_EQ(table_.find(5000, 0, &what), Post::invalid);
}

TEST(ExposuresOfAPeer, APartThatLiesOutsideTheRegionIsNone) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory(Exposures::bytes(4) / 64 + 1);
  const std::span<std::byte> region = std::as_writable_bytes(std::span(memory));
  Exposures owner(region.data(), 4);
  std::vector<Line> elsewhere(owner.next_part() / 64);
  for (std::uint32_t i = 0; i < kFirst; ++i)
    ASSERT_EQ(owner.add(i, {ExposedIn::process, kRead, i, 1}, {}), Post::done);
  owner.go_on(elsewhere[0].bytes);
  ASSERT_EQ(owner.add(5000, {ExposedIn::process, kRead, 1, 1}, {}), Post::done);
  Exposed what;
  EXPECT_EQ(owner.find(5000, 0, &what), Post::done);
  EXPECT_EQ(Exposures(region, 4).find(5000, 0, &what), Post::invalid);
  EXPECT_EQ(Exposures(region, 4).find(7, 0, &what), Post::done);
}

TEST(ExposedBounds, AreCheckedWithoutOverflow) {
  const Exposed what{ExposedIn::process, kRead | kAtomic, 8, 100};
  EXPECT_EQ(Exposures::check(what, 0, 100, kRead), Post::done);
  EXPECT_EQ(Exposures::check(what, 100, 0, kRead), Post::done);
  // Expect: past the end, wrapping round, without permission, unaligned: refused.
  EXPECT_EQ(Exposures::check(what, 1, 100, kRead), Post::invalid);
  EXPECT_EQ(Exposures::check(what, 101, 0, kRead), Post::invalid);
  EXPECT_EQ(Exposures::check(what, ~std::uint64_t{0}, 2, kRead), Post::invalid);
  EXPECT_EQ(Exposures::check(what, 1, ~std::uint64_t{0}, kRead), Post::invalid);
  EXPECT_EQ(Exposures::check(what, 0, 8, kWrite), Post::denied);
  EXPECT_EQ(Exposures::check(what, 8, 8, kAtomic), Post::done);
  EXPECT_EQ(Exposures::check(what, 4, 8, kAtomic), Post::invalid);
}

}  // namespace
}  // namespace fairlead::lci
