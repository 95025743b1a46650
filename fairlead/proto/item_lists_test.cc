#include "fairlead/proto/item_lists.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::proto {
namespace {

TEST(ItemLists, SeveralListsInOneSlabAreEachFifo) {
  ItemLists slab;
  ItemList lists[3];
  std::deque<std::uint32_t> expected[3];
  Prng random(9);
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const std::size_t at = random.below(3);
    if (random.chance(0.55)) {
      slab.push(lists[at], i);
      expected[at].push_back(i);
    } else if (!expected[at].empty()) {
      ASSERT_EQ(slab.front(lists[at]), expected[at].front());
      slab.pop(lists[at]);
      expected[at].pop_front();
    }
    ASSERT_EQ(lists[at].empty(), expected[at].empty());
  }
  EXPECT_EQ(slab.size(), expected[0].size() + expected[1].size() + expected[2].size());
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<std::uint32_t> seen;
    slab.for_each(lists[at], [&](std::uint32_t item) { seen.push_back(item); });
    EXPECT_EQ(seen, std::vector<std::uint32_t>(expected[at].begin(), expected[at].end()));
  }
}

}  // namespace
}  // namespace fairlead::proto
