// Looks at doorbells, to the nanosecond: 10 ns each.
#include "fairlead/lci/ni/doorbell_scan.h"

#include <gtest/gtest.h>

namespace fairlead::lci {
namespace {

constexpr Ps at(std::int64_t ns) { return nanoseconds(ns); }
constexpr std::uint32_t kNone = DoorbellScan::kNone;

DoorbellScan scan_of(std::uint32_t count) {
  DoorbellScan scan(at(10));
  scan.grow(count);
  return scan;
}

// It turns to other work at `now`, for `work`.
void expect_turn(DoorbellScan& scan, Ps now, Ps until, std::uint32_t found, Ps work = Ps{0}) {
  const DoorbellScan::Look look = scan.turn(now);
  EXPECT_EQ(look.until, until);
  EXPECT_EQ(look.found, found);
  scan.resume(look.until + work);
}

TEST(DoorbellScan, FindsOneAfterAsManyLooksAsItIsAway) {
  DoorbellScan scan = scan_of(4);
  // Expect: looks end at 10, 20, 30, 40; the third one finds doorbell 2
  scan.rang(2, at(5));
  EXPECT_EQ(scan.due(), at(30));
  expect_turn(scan, at(30), at(30), 2);
  EXPECT_EQ(scan.due(), kNever);
  // Expect: round again from doorbell 3; 2 is the last of four
  scan.rang(2, at(30));
  EXPECT_EQ(scan.due(), at(70));
}

TEST(DoorbellScan, AWriteDuringALookIsFoundByItAndOneAfterItIsNot) {
  DoorbellScan scan = scan_of(4);
  scan.rang(0, at(9));
  EXPECT_EQ(scan.due(), at(10));
  DoorbellScan late = scan_of(4);
  late.rang(0, at(10));
  EXPECT_EQ(late.due(), at(50));
}

TEST(DoorbellScan, OtherWorkWaitsForTheLookUnderWayAndHoldsUpTheRest) {
  DoorbellScan scan = scan_of(4);
  scan.rang(3, at(1));
  EXPECT_EQ(scan.due(), at(40));
  // Expect: the look at doorbell 1, from 10 to 20, ends first; then 100 ns of work, then 2 and 3
  expect_turn(scan, at(13), at(20), kNone, at(100));
  EXPECT_EQ(scan.due(), at(140));
  expect_turn(scan, at(140), at(140), 3);
}

TEST(DoorbellScan, BetweenTwoPiecesOfWorkThereIsALook) {
  DoorbellScan scan = scan_of(2);
  scan.rang(1, at(0));
  expect_turn(scan, at(0), at(10), kNone, at(50));
  // Expect: the next piece waits at 60 already; the look before it finds the doorbell
  expect_turn(scan, at(60), at(70), 1, at(50));
  expect_turn(scan, at(120), at(130), kNone, at(50));
}

TEST(DoorbellScan, OneThatEndsWhenOtherWorkComesCountsAsTheLookBetween) {
  DoorbellScan scan = scan_of(3);
  // Expect: looks ended at 10 and 20, none is under way
  expect_turn(scan, at(20), at(20), kNone);
  // Expect: the same time, but what it found is served in that turn
  scan.rang(2, at(21));
  expect_turn(scan, at(30), at(30), 2);
}

TEST(DoorbellScan, WhatIsWrittenWhileItWorksIsFoundLater) {
  DoorbellScan scan = scan_of(2);
  expect_turn(scan, at(10), at(10), kNone, at(100));
  // Expect: it works until 110
  scan.rang(0, at(50));
  scan.rang(1, at(60));
  EXPECT_EQ(scan.due(), at(120));
  expect_turn(scan, at(120), at(120), 1);
  EXPECT_EQ(scan.due(), at(130));
}

TEST(DoorbellScan, WithoutDoorbellsItIsIdle) {
  DoorbellScan scan(at(10));
  expect_turn(scan, at(35), at(35), kNone, at(7));
  EXPECT_EQ(scan.due(), kNever);
  // Expect: the first one is looked at from when it is there
  scan.grow(1);
  scan.rang(0, at(42));
  EXPECT_EQ(scan.due(), at(52));
}

}  // namespace
}  // namespace fairlead::lci
