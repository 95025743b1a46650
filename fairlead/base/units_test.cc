#include "fairlead/base/units.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Units, TransferTimeIsExactAndRoundsUp) {
  // Expect: 1.28 Gbit/s moves a byte in 6.25 ns, no drift over many bytes.
  EXPECT_EQ(time_for(Bytes{1}, BytesPerSec{160'000'000}), Ps{6'250});
  EXPECT_EQ(time_for(Bytes{1'000'000}, BytesPerSec{160'000'000}), Ps{6'250'000'000});
  // Expect: a third of a picosecond counts as a whole one.
  EXPECT_EQ(time_for(Bytes{1}, BytesPerSec{3'000'000'000'000}), Ps{1});
}

TEST(Units, LargeTransfersDoNotOverflow) {
  EXPECT_EQ(time_for(Bytes{1ull << 40}, BytesPerSec{1ull << 30}), seconds(1024));
}

TEST(Units, CyclesAtAClock) {
  EXPECT_EQ(time_for(Cycles{33}, Hertz{33'000'000}), microseconds(1));
  EXPECT_EQ(microseconds_rounded(1.5), Ps{1'500'000});
}

}  // namespace
}  // namespace fairlead
