#include "fairlead/fabric/model/rdma/reliable_connection.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::fabric::model {
namespace {

using Arrival = RcResponder::Arrival;
using Data = RcRequester::Data;
using Ends = RcRequester::Ends;

std::vector<std::uint32_t> ended(RcRequester& requester) {
  std::vector<std::uint32_t> packets;
  requester.end_done([&](std::uint32_t packet) { packets.push_back(packet); });
  return packets;
}
std::vector<std::uint32_t> repeated(RcRequester& requester) {
  std::vector<std::uint32_t> packets;
  requester.again([&](std::uint32_t packet) { packets.push_back(packet); });
  return packets;
}
using Packets = std::vector<std::uint32_t>;

constexpr std::uint32_t kNearWrap = ~1u;

TEST(RcRequester, RequestsInOrderAreDoneWhenTheyAreTaken) {
  RcRequester requester(kNearWrap);
  for (std::uint32_t packet = 10; packet < 14; ++packet) (void)requester.add(packet, Ends::taken);
  EXPECT_TRUE(requester.acknowledged(kNearWrap + 3));
  // Expect: three are done, past the numbers' wrap; an old acknowledgment is no news.
  EXPECT_EQ(ended(requester), (Packets{10, 11, 12}));
  EXPECT_FALSE(requester.acknowledged(kNearWrap + 1));
  EXPECT_FALSE(requester.acknowledged(kNearWrap + 3));
  // Expect: one of what was not sent is not believed.
  EXPECT_FALSE(requester.acknowledged(kNearWrap + 5));
  EXPECT_EQ(repeated(requester), (Packets{13}));
}

TEST(RcRequester, WhatIsAnsweredIsDoneWithItsAnswer) {
  RcRequester requester;
  (void)requester.add(10, Ends::taken);
  const std::uint32_t atomic = requester.add(11, Ends::answer);
  EXPECT_TRUE(requester.acknowledged(2));
  EXPECT_EQ(ended(requester), (Packets{10}));
  EXPECT_EQ(repeated(requester), (Packets{11}));
  EXPECT_TRUE(requester.answered(atomic));
  // Expect: twice and of nothing are neither.
  EXPECT_FALSE(requester.answered(atomic));
  EXPECT_FALSE(requester.answered(atomic + 1));
  EXPECT_FALSE(requester.answered(atomic - 1));
  EXPECT_EQ(ended(requester), (Packets{11}));
  EXPECT_TRUE(requester.idle());
}

TEST(RcRequester, AnAnswerShowsThatAllBeforeItWasTaken) {
  RcRequester requester;
  (void)requester.add(10, Ends::taken);
  (void)requester.add(11, Ends::answer);
  const std::uint32_t last = requester.add(12, Ends::answer);
  EXPECT_TRUE(requester.answered(last));
  // Expect: but not that it was answered.
  EXPECT_EQ(ended(requester), (Packets{10}));
  EXPECT_EQ(repeated(requester), (Packets{11}));
  EXPECT_TRUE(requester.answered(1));
  EXPECT_EQ(ended(requester), (Packets{11, 12}));
}

TEST(RcRequester, DataCountOnceAndInOrder) {
  RcRequester requester;
  const std::uint32_t read = requester.add(10, Ends::data);
  EXPECT_EQ(requester.data(read, 0, 100, false, 1), Data::next);
  EXPECT_EQ(requester.data(read, 200, 100, true, 1), Data::gap);
  EXPECT_EQ(requester.data(read, 300, 100, true, 1), Data::known);
  // Expect: asked for once more, it comes from the begin.
  EXPECT_EQ(requester.data(read, 0, 100, false, 1), Data::known);
  EXPECT_EQ(requester.data(read, 100, 100, false, 1), Data::next);
  EXPECT_EQ(requester.data(read, 200, 100, true, 1), Data::next);
  EXPECT_EQ(requester.data(read, 200, 100, true, 1), Data::known);
  EXPECT_EQ(ended(requester), (Packets{10}));
}

TEST(RcRequester, NothingOfAReadIsTakenBeforeAllOfThoseBeforeIt) {
  RcRequester requester;
  const std::uint32_t first = requester.add(10, Ends::data);
  (void)requester.add(11, Ends::answer);
  const std::uint32_t second = requester.add(12, Ends::data);
  // Expect: the answer to the first was lost, which is told once, and it comes again with what is
  // behind it.
  EXPECT_EQ(requester.data(second, 0, 100, true, 2), Data::gap);
  EXPECT_EQ(requester.data(second, 0, 100, true, 2), Data::known);
  EXPECT_EQ(repeated(requester), (Packets{10, 11, 12}));
  EXPECT_EQ(requester.data(first, 0, 8, true, 3), Data::next);
  // Expect: what was read before that is not taken behind it, by whatever way it comes late.
  EXPECT_EQ(requester.data(second, 0, 100, true, 2), Data::known);
  EXPECT_EQ(requester.data(second, 0, 100, true, 4), Data::next);
  EXPECT_TRUE(requester.answered(1));
  EXPECT_EQ(ended(requester), (Packets{10, 11, 12}));
}

TEST(RcRequester, AReadThatIsRefusedHoldsUpNoOther) {
  RcRequester requester;
  const std::uint32_t refused = requester.add(10, Ends::data);
  const std::uint32_t second = requester.add(11, Ends::data);
  EXPECT_TRUE(requester.answered(refused));
  EXPECT_EQ(requester.data(second, 0, 100, true, 1), Data::next);
}

TEST(RcRequester, AGapIsNewsUntilItIsTaken) {
  RcRequester requester;
  for (std::uint32_t packet = 0; packet < 4; ++packet) (void)requester.add(packet, Ends::taken);
  EXPECT_TRUE(requester.is_gap(0));
  EXPECT_TRUE(requester.acknowledged(2));
  EXPECT_FALSE(requester.is_gap(1));
  EXPECT_TRUE(requester.is_gap(2));
  EXPECT_FALSE(requester.is_gap(4));
}

TEST(RcRequester, TheWindowHasAnEnd) {
  RcRequester requester;
  while (!requester.full()) (void)requester.add(0, Ends::taken);
  EXPECT_EQ(repeated(requester).size(), RcRequester::kWindow);
  EXPECT_TRUE(requester.acknowledged(1));
  (void)ended(requester);
  EXPECT_FALSE(requester.full());
}

TEST(RcRequester, GivingUpTellsWhichWereDone) {
  RcRequester requester;
  (void)requester.add(10, Ends::answer);
  (void)requester.add(11, Ends::answer);
  EXPECT_TRUE(requester.answered(1));
  Packets open;
  Packets done;
  requester.give_up(
      [&](std::uint32_t packet, bool is_done) { (is_done ? done : open).push_back(packet); });
  EXPECT_EQ(open, (Packets{10}));
  EXPECT_EQ(done, (Packets{11}));
  EXPECT_TRUE(requester.idle());
}

TEST(RcResponder, TakesEachRequestOnceAndInOrder) {
  RcResponder responder(kNearWrap);
  EXPECT_EQ(responder.arrived(kNearWrap), Arrival::next);
  EXPECT_EQ(responder.arrived(kNearWrap + 1), Arrival::next);
  EXPECT_EQ(responder.arrived(kNearWrap), Arrival::again);
  // Expect: a gap is told of once, until it is filled; past the wrap as before it.
  EXPECT_EQ(responder.arrived(kNearWrap + 3), Arrival::gap);
  EXPECT_EQ(responder.arrived(kNearWrap + 4), Arrival::late);
  EXPECT_EQ(responder.arrived(kNearWrap + 2), Arrival::next);
  EXPECT_EQ(responder.arrived(kNearWrap + 4), Arrival::gap);
  EXPECT_EQ(responder.expected(), kNearWrap + 3);
}

TEST(RcResponder, KeepsHowRequestsEnded) {
  RcResponder responder;
  EXPECT_EQ(responder.end_of(0), nullptr);
  for (std::uint32_t i = 0; i <= RcResponder::kEndsKept; ++i) {
    responder.ended({i, 7, i * 2, 0, true});
  }
  ASSERT_NE(responder.end_of(1), nullptr);
  EXPECT_EQ(responder.end_of(1)->old, 2u);
  // Expect: no more than so many.
  EXPECT_EQ(responder.end_of(0), nullptr);
}

}  // namespace
}  // namespace fairlead::fabric::model
