#include "fairlead/systems/crl/urc.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::crl {
namespace {

Region::Owner region(Rid rid, std::size_t bytes) { return Region::make(rid, 1, 0, bytes, false); }

TEST(UnmappedCache, the_least_recently_unmapped_leaves_when_there_are_too_many) {
  UnmappedCache cache(2, 1000);
  std::vector<Region::Owner> regions;
  for (Rid i = 0; i < 4; ++i) regions.push_back(region(i, 10));
  cache.put(*regions[0]);
  cache.put(*regions[1]);
  EXPECT_EQ(cache.evict(), nullptr);
  cache.take(*regions[0]);
  cache.put(*regions[0]);
  cache.put(*regions[2]);
  EXPECT_EQ(cache.evict(), regions[1].get());
  EXPECT_EQ(cache.evict(), nullptr);
  cache.put(*regions[3]);
  EXPECT_EQ(cache.evict(), regions[0].get());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.bytes(), 20u);
}

TEST(UnmappedCache, or_too_many_bytes_of_them) {
  UnmappedCache cache(100, 25);
  const Region::Owner a = region(1, 10);
  const Region::Owner b = region(2, 10);
  const Region::Owner large = region(3, 26);
  cache.put(*a);
  cache.put(*b);
  EXPECT_EQ(cache.evict(), nullptr);
  cache.put(*large);
  EXPECT_EQ(cache.evict(), a.get());
  EXPECT_EQ(cache.evict(), b.get());
  // Expect: what does not fit alone leaves as well.
  EXPECT_EQ(cache.evict(), large.get());
  EXPECT_EQ(cache.evict(), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(Region, is_found_by_the_programs_pointer_alone) {
  Region::Owner made = region(7, 100);
  void* const mapped = made->mapped();
  EXPECT_EQ(Region::of(mapped), made.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped) % Region::kAlignment, 0u);
  EXPECT_EQ(Region::of(nullptr), nullptr);
  EXPECT_EQ(Region::of(made->mapped() + 8), nullptr);
}

TEST(Region, checked_form_finds_accesses_outside_operations) {
  Region::Owner made = Region::make(7, 0, 0, 100, true);
  EXPECT_EQ(made->show(), nullptr);
  EXPECT_EQ(made->mapped()[99], std::byte{0});
  made->mapped()[99] = std::byte{5};
  EXPECT_EQ(made->take(), nullptr);
  // Expect: the content has it; the program's memory shows poison until the next operation.
  EXPECT_EQ(made->content()[99], std::byte{5});
  EXPECT_NE(made->mapped()[99], std::byte{5});
  EXPECT_EQ(made->show(), nullptr);
  EXPECT_EQ(made->mapped()[99], std::byte{5});
  made->mapped()[0] = std::byte{1};
  EXPECT_STREQ(made->hide(), "it was written inside a read");
  EXPECT_EQ(made->content()[0], std::byte{0});
  EXPECT_EQ(made->verify(), nullptr);
  made->mapped()[3] = std::byte{1};
  EXPECT_STREQ(made->verify(), "it was written outside an operation");
  EXPECT_STREQ(made->show(), "it was written outside an operation");
}

TEST(Region, checked_form_finds_writes_past_the_end) {
  Region::Owner made = Region::make(7, 0, 0, 100, true);
  EXPECT_EQ(made->show(), nullptr);
  made->mapped()[100] = std::byte{0};
  EXPECT_STREQ(made->take(), "something was written past its end");
}

}  // namespace
}  // namespace fairlead::crl
