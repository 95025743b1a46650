#include "fairlead/proto/round_trip.h"

#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

TEST(RoundTrip, TheTimeoutFollowsWhatIsMeasured) {
  RoundTrip trip;
  // Expect: a given one before anything was measured
  EXPECT_EQ(trip.timeout(milliseconds(5), microseconds(500)), milliseconds(5));
  trip.measured(microseconds(400));
  EXPECT_EQ(trip.timeout(milliseconds(5), microseconds(500)), microseconds(1200));
  // Expect: it comes down with steady round trips, and stops at the shortest
  for (int i = 0; i < 100; ++i) trip.measured(microseconds(400));
  EXPECT_EQ(trip.mean(), microseconds(400));
  EXPECT_LT(trip.timeout(milliseconds(5), microseconds(1)), microseconds(410));
  EXPECT_EQ(trip.timeout(milliseconds(5), microseconds(500)), microseconds(500));
  // Expect: a single long one raises it at once
  trip.measured(milliseconds(4));
  EXPECT_GT(trip.timeout(milliseconds(5), microseconds(500)), milliseconds(4));
}

}  // namespace
}  // namespace fairlead::proto
