#include "fairlead/base/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "fairlead/base/prng.h"

namespace fairlead {
namespace {

// Expect: what std::deque does, over growth and wrap-around.
template <class Tested>
void same_as_deque() {
  Prng draw(3);
  Tested ring;
  std::deque<int> model;
  for (int step = 0; step < 20000; ++step) {
    // Fills for a while, then drains.
    const bool fill = draw.below(4) != static_cast<std::uint64_t>(step / 500 % 2 == 0 ? 0 : 3);
    if (fill && draw.chance(0.6)) {
      ring.push_back(step);
      model.push_back(step);
    } else if (!model.empty()) {
      ring.pop_front();
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
    if (model.empty()) continue;
    ASSERT_EQ(ring.front(), model.front());
    const auto i = static_cast<std::size_t>(draw.below(model.size()));
    ASSERT_EQ(ring[i], model[i]);
  }
}

TEST(Ring, IsAQueue) {
  same_as_deque<Ring<int>>();
  same_as_deque<Ring<int, 1>>();
  same_as_deque<Ring<int, 4>>();
}

TEST(Ring, FreesWhatLeaves) {
  Ring<std::shared_ptr<int>, 2> ring;
  auto watched = std::make_shared<int>(7);
  for (int i = 0; i < 5; ++i) ring.push_back(watched);
  // Expect: growing keeps one of each
  EXPECT_EQ(watched.use_count(), 6);
  ring.pop_front();
  EXPECT_EQ(watched.use_count(), 5);
  while (!ring.empty()) ring.pop_front();
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(Ring, MovesAndIsEmptyThen) {
  for (const int count : {2, 9}) {
    Ring<int, 4> from;
    for (int i = 0; i < count; ++i) from.push_back(i);
    Ring<int, 4> to(std::move(from));
    ASSERT_EQ(to.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) EXPECT_EQ(to[static_cast<std::size_t>(i)], i);
    // Expect: what was moved from can be used again
    EXPECT_TRUE(from.empty());
    for (int i = 0; i < 9; ++i) from.push_back(i);
    EXPECT_EQ(from.front(), 0);
    EXPECT_EQ(from.size(), 9u);
  }
}

TEST(Ring, IsSmallWhileEmpty) {
  EXPECT_LE(sizeof(Ring<std::uint64_t>), 32u);
  EXPECT_LE(sizeof(Ring<std::uint64_t, 4>), 56u);
}

}  // namespace
}  // namespace fairlead
