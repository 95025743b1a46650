#include "fairlead/base/pinned_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace fairlead {
namespace {

struct alignas(64) Pinned {
  Pinned(int number, std::vector<int>& ended) : id(number), log(ended) {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { log.push_back(id); }
  int id;
  std::vector<int>& log;
};

TEST(PinnedArray, MakesInPlaceAndEndsLastToFirst) {
  std::vector<int> ended;
  {
    PinnedArray<Pinned> array(5);
    const Pinned* const first = &array.emplace_back(7, ended);
    for (int i = 8; i < 11; ++i) array.emplace_back(i, ended);
    EXPECT_EQ(array.size(), 4u);
    EXPECT_EQ(&array[0], first);
    EXPECT_EQ(array[3].id, 10);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&array[1]) % 64, 0u);
    EXPECT_EQ(&array[1], first + 1);
  }
  // Expect: those that were made, and no others
  EXPECT_EQ(ended, (std::vector<int>{10, 9, 8, 7}));
}

TEST(PinnedArrayDeathTest, TakesNoMoreThanItWasMadeFor) {
  std::vector<int> ended;
  PinnedArray<Pinned> array(1);
  array.emplace_back(1, ended);
  EXPECT_DEATH(array.emplace_back(2, ended), "1 of 1 made");
}

}  // namespace
}  // namespace fairlead
