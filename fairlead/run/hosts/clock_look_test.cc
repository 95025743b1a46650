#include "fairlead/run/hosts/clock_look.h"

#include <gtest/gtest.h>

namespace fairlead::run {
namespace {

TEST(ClockLook, TheShortestRoundTripCounts) {
  ClockLook look;
  look.add(1000, 2000, 51'900);  // 50,400 ahead if both ways took the same
  look.add(3000, 3100, 53'080);
  look.add(5000, 6000, 55'100);
  look.settle(false);
  EXPECT_EQ(look.ahead(), 50'030);
  EXPECT_EQ(look.error(), 50);
}

TEST(ClockLook, WhatComesLaterTellsHowItMoved) {
  ClockLook look;
  look.add(0, 100, 1'000'050);
  look.settle(false);
  look.add(1'000'000, 1'000'120, 2'000'160);  // 100 further
  EXPECT_EQ(look.ahead(), 1'000'000);
  EXPECT_EQ(look.error(), 100 + 60);
  // Expect: one that took long says nothing
  look.add(2'000'000, 2'100'000, 3'900'000);
  EXPECT_EQ(look.error(), 100 + 60);
}

TEST(ClockLook, HostsOfOneMachineHaveOneClockUnlessItIsSeenThatTheyHaveNot) {
  ClockLook one;
  one.add(500, 900, 720);
  one.settle(true);
  EXPECT_EQ(one.ahead(), 0);
  EXPECT_EQ(one.error(), 0);
  ClockLook two;  // as with time namespaces
  two.add(500, 900, 20'720);
  two.settle(true);
  EXPECT_EQ(two.ahead(), 20'020);
  EXPECT_EQ(two.error(), 200);
}

TEST(ClockLook, ClocksThatShowAlmostAllTheyCan) {
  constexpr std::int64_t kLate = std::numeric_limits<std::int64_t>::max() - 10;
  ClockLook look;
  look.add(kLate - 100, kLate, 1000);
  look.settle(false);
  EXPECT_LT(look.ahead(), 0);
  EXPECT_EQ(look.error(), 50);
}

}  // namespace
}  // namespace fairlead::run
