#include "fairlead/proto/deadlines.h"

#include <gtest/gtest.h>

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

TEST(Deadlines, EqualTimesAndPeersByKind) {
  Deadlines deadlines;
  deadlines.add(Ps{5}, 1, 1);
  deadlines.add(Ps{5}, 1, 0);
  EXPECT_EQ(deadlines.take().kind, 0u);
  EXPECT_EQ(deadlines.take().kind, 1u);
}

}  // namespace
}  // namespace fairlead::proto
