#include "fairlead/proto/credit_window.h"

#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

// Counts charges; its clock moves one nanosecond a step.
struct CountingSite {
  Ps now() const { return nanoseconds(steps); }
  void charge(Step) { ++steps; }
  int steps = 0;
};

void nothing(std::uint32_t) {}

TEST(CreditWindow, SharesBuffersEvenly) {
  // Expect: the paper's windows at 64 nodes: 256 buffers give 4, 512 give 8.
  EXPECT_EQ(credit_window_size(256, 64), 4u);
  EXPECT_EQ(credit_window_size(512, 64), 8u);
  EXPECT_EQ(credit_window_size(256, 400), 0u);
  EXPECT_EQ(credit_window_size(256, 1), 256u);
}

TEST(CreditWindow, SenderStopsAtTheWindowAndGoesOnWithCredit) {
  CountingSite site;
  CreditWindow window(4, 2);
  EXPECT_TRUE(window.open(site, 1));
  EXPECT_TRUE(window.open(site, 1));
  // Expect: the third packet waits, another peer is not affected.
  EXPECT_FALSE(window.open(site, 1));
  EXPECT_TRUE(window.open(site, 2));
  // Expect: one returned credit lets one packet go.
  EXPECT_TRUE(window.acknowledged(site, 1, 1, nothing));
  EXPECT_TRUE(window.open(site, 1));
  EXPECT_FALSE(window.open(site, 1));
  // Expect: every decision was charged.
  EXPECT_EQ(site.steps, 7);
}

TEST(CreditWindow, RefusesMoreCreditThanWasLent) {
  CountingSite site;
  CreditWindow window(2, 4);
  // Expect: duplicated or forged credit is refused and changes nothing.
  EXPECT_FALSE(window.acknowledged(site, 1, 1, nothing));
  EXPECT_TRUE(window.open(site, 1));
  EXPECT_FALSE(window.acknowledged(site, 1, 2, nothing));
  EXPECT_EQ(window.credits(1), 3u);
  EXPECT_TRUE(window.acknowledged(site, 1, 1, nothing));
  EXPECT_EQ(window.credits(1), 4u);
}

TEST(CreditWindow, AcknowledgesExplicitlyAtHalfTheWindow) {
  CountingSite site;
  CreditWindow window(2, 4);
  // Expect: W/2 = 2 releases without return traffic ask for an explicit acknowledgment.
  EXPECT_FALSE(window.released(site, 1));
  EXPECT_TRUE(window.released(site, 1));
  EXPECT_EQ(window.take_ack(1), 2u);
  // Expect: what a packet carried is not acknowledged again.
  EXPECT_FALSE(window.released(site, 1));
  EXPECT_EQ(window.take_ack(1), 1u);
  EXPECT_EQ(window.take_ack(1), 0u);
  EXPECT_FALSE(window.released(site, 1));
}

TEST(CreditWindow, AcknowledgesAtAnotherPartOfTheWindow) {
  CountingSite site;
  CreditWindow window(2, 8, 0, 4);
  // Expect: a quarter of 8, twice.
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(window.released(site, 1));
    EXPECT_TRUE(window.released(site, 1));
    EXPECT_EQ(window.take_ack(1), 2u);
  }
}

TEST(CreditWindow, WindowOfOneAcknowledgesEveryPacket) {
  CountingSite site;
  CreditWindow window(2, 1);
  EXPECT_TRUE(window.released(site, 1));
}

TEST(CreditWindow, TellsAGapFromADuplicate) {
  CountingSite site;
  CreditWindow window(2, 4);
  EXPECT_EQ(window.number(site, 1, 0), 0u);
  EXPECT_EQ(window.number(site, 1, 0), 1u);
  EXPECT_EQ(window.arrived(site, 1, 0), Verdict::in_order);
  window.accept(1);
  EXPECT_EQ(window.arrived(site, 1, 0), Verdict::duplicate);
  EXPECT_EQ(window.arrived(site, 1, 2), Verdict::gap);
  EXPECT_EQ(window.arrived(site, 1, 1), Verdict::in_order);
}

TEST(CreditWindow, NumbersWrap) {
  CountingSite site;
  CreditWindow window(2, 2, UINT32_MAX - 1);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const std::uint32_t number = UINT32_MAX - 1 + i;
    EXPECT_TRUE(window.open(site, 1));
    EXPECT_EQ(window.number(site, 1, 0), number);
    EXPECT_TRUE(window.acknowledged(site, 1, 1, nothing));
    // Expect: the receiver's order over the wrap
    EXPECT_EQ(window.arrived(site, 1, number + 1), Verdict::gap);
    EXPECT_EQ(window.arrived(site, 1, number), Verdict::in_order);
    window.accept(1);
    EXPECT_EQ(window.arrived(site, 1, number), Verdict::duplicate);
  }
}

}  // namespace
}  // namespace fairlead::proto
