// What an unreliable network does to packets: which are sent, in which order and by which way.
#include "fairlead/systems/via/loss.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fairlead::via {
namespace {

struct Sent {
  Rank to;
  std::uint32_t queue;
  std::uint32_t number;
  std::uint32_t body;
};

// A Port that takes `room` packets more.
struct Wire {
  std::vector<Sent> sent;
  std::size_t room = ~std::size_t{0};

  Post operator()(const Loss::Way& way, const lci::Words& words, std::span<const Piece> pieces) {
    if (room == 0) return Post::again_credit;
    --room;
    std::uint32_t body = 0;
    std::memcpy(&body, pieces[0].data, sizeof body);
    sent.push_back({way.to, way.queue, words[0], body});
    return Post::done;
  }
};

Post send(Loss& loss, Wire& wire, const Loss::Way& way, std::uint32_t number) {
  const std::uint32_t body = number * 7;
  const Piece piece{&body, sizeof body};
  const lci::Words words = {number, 0, 0, 0};
  return loss.send(way, words, {&piece, 1}, wire);
}

TEST(Loss, LatePacketLeavesByItsOwnWay) {
  LossPlan plan;
  plan.reorder = 0.5;
  Loss loss(plan, 0);
  Wire wire;
  constexpr std::uint32_t kPackets = 200;
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    // Packets of two VIs in turn, each with a rank and a queue of its own.
    ASSERT_EQ(send(loss, wire, {i % 2, 10 + i % 2}, i), Post::done);
  }
  // Expect: no packet but the last is missing, and each went the way of its VI, whole.
  ASSERT_GE(wire.sent.size(), kPackets - 1);
  for (const Sent& each : wire.sent) {
    EXPECT_EQ(each.to, each.number % 2) << "packet " << each.number;
    EXPECT_EQ(each.queue, 10 + each.number % 2) << "packet " << each.number;
    EXPECT_EQ(each.body, each.number * 7);
  }
}

// A plan that makes all packets late that it can: 0.9 is the most.
Loss mostly_late() {
  LossPlan plan;
  plan.reorder = 0.9;
  return Loss(plan, 0);
}

TEST(Loss, WithoutRoomNothingIsLost) {
  Loss loss = mostly_late();
  Wire wire;
  std::uint32_t number = 0;
  const std::size_t before = wire.sent.size();
  do {  // until a packet is late
    ASSERT_EQ(send(loss, wire, {0, 1}, number), Post::done);
  } while (wire.sent.size() == before + ++number);
  wire.room = 0;
  const std::size_t sent = wire.sent.size();
  EXPECT_EQ(send(loss, wire, {0, 2}, number), Post::again_credit);
  EXPECT_EQ(wire.sent.size(), sent);
  wire.room = 2;
  EXPECT_EQ(send(loss, wire, {0, 2}, number), Post::done);
  // Expect: the late one came first, by its queue.
  ASSERT_GT(wire.sent.size(), sent);
  EXPECT_EQ(wire.sent[sent].number, number - 1);
  EXPECT_EQ(wire.sent[sent].queue, 1u);
}

TEST(Loss, NothingIsSentByAClosedQueue) {
  Loss loss = mostly_late();
  Wire wire;
  std::uint32_t number = 0;
  do {
    ASSERT_EQ(send(loss, wire, {0, 1}, number), Post::done);
  } while (wire.sent.size() == ++number);
  const std::size_t sent = wire.sent.size();
  loss.close(1);
  ASSERT_EQ(send(loss, wire, {0, 2}, number), Post::done);
  ASSERT_EQ(send(loss, wire, {0, 2}, number + 1), Post::done);
  for (std::size_t i = sent; i < wire.sent.size(); ++i) EXPECT_EQ(wire.sent[i].queue, 2u);
}

}  // namespace
}  // namespace fairlead::via
