#include "fairlead/proto/deadlines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::proto {
namespace {

TEST(Deadlines, TheEarliestFirst) {
  Deadlines deadlines;
  EXPECT_EQ(deadlines.earliest(), kNever);
  Prng random(3);
  constexpr int kEntries = 500;
  for (int i = 0; i < kEntries; ++i) {
    deadlines.add(nanoseconds(static_cast<std::int64_t>(random.below(1000))),
                  static_cast<Peer>(random.below(50)), 0);
  }
  Deadlines::Entry last{Ps{-1}, 0, 0};
  for (int i = 0; i < kEntries; ++i) {
    ASSERT_NE(deadlines.earliest(), kNever);
    const Deadlines::Entry entry = deadlines.take();
    // Expect: by time, then by peer
    EXPECT_TRUE(last.at < entry.at || (last.at == entry.at && last.peer <= entry.peer));
    last = entry;
  }
  EXPECT_EQ(deadlines.earliest(), kNever);
}

// Times of one kind mostly grow, as where its delay is the same for all.
TEST(Deadlines, KindsMixed) {
  Deadlines deadlines;
  Prng random(4);
  std::vector<std::tuple<std::int64_t, Peer, std::uint32_t>> expected;
  std::int64_t now = 0;
  for (int step = 0; step < 5000; ++step) {
    now += static_cast<std::int64_t>(random.below(20));
    const auto kind = static_cast<std::uint32_t>(random.below(2));
    std::int64_t at = now + (kind == 0 ? 50 : 400);
    if (random.chance(0.1)) at -= static_cast<std::int64_t>(random.below(50));
    const auto peer = static_cast<Peer>(random.below(30));
    deadlines.add(Ps{at}, peer, kind);
    expected.emplace_back(at, peer, kind);
    while (deadlines.earliest() <= Ps{now}) {
      const auto first = std::min_element(expected.begin(), expected.end());
      EXPECT_EQ(deadlines.first().peer, std::get<1>(*first));
      const Deadlines::Entry entry = deadlines.take();
      // Expect: the earliest, at its time
      ASSERT_EQ(std::tuple(entry.at.count, entry.peer, entry.kind), *first);
      ASSERT_GT(entry.at.count, now - 20);
      expected.erase(first);
    }
    const auto next = std::min_element(expected.begin(), expected.end());
    ASSERT_EQ(deadlines.earliest(), next == expected.end() ? kNever : Ps{std::get<0>(*next)});
  }
}

TEST(Deadlines, EqualTimesAndPeersByKind) {
  Deadlines deadlines;
  deadlines.add(Ps{5}, 1, 1);
  deadlines.add(Ps{5}, 1, 0);
  EXPECT_EQ(deadlines.take().kind, 0u);
  EXPECT_EQ(deadlines.take().kind, 1u);
}

}  // namespace
}  // namespace fairlead::proto
