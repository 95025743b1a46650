// Messages whose room runs out: what waits goes later, in order, unmixed, from the right memory.
#include "fairlead/systems/panda/outgoing.h"

#include <gtest/gtest.h>

#include "fairlead/systems/panda/test_port.h"

namespace fairlead::panda {
namespace {

constexpr std::size_t kMtu = 100;
constexpr Service kService = 9;

class OutgoingTest : public ::testing::Test {
 protected:
  ~OutgoingTest() override { EXPECT_EQ(port.packets, 0); }

  void send(Rank to, const std::string& text, Outgoing::Room room, bool group = false) {
    Message message(text.data() + 1, text.size() - 1);
    message.push(text.data(), 1);
    outgoing.send(to, group, Head::first(Kind::message, kService, text.size(), 0), message, room);
  }
  // What a receiver makes of all that was sent to `to`.
  std::vector<std::string> texts(Rank to, bool group = false) {
    std::vector<std::string> all;
    std::size_t left = 0;
    std::uint32_t index = 0;
    for (const TestPort::Sent& each : port.sent) {
      if (each.to.id != to || each.to.group != group) continue;
      const Head head = read_head(each.words);
      if (head.kind() != Kind::more) {
        EXPECT_EQ(left, 0u) << "a message begins within another one";
        EXPECT_EQ(head.number(), all.size());
        all.emplace_back();
        left = head.size;
        index = 0;
      } else {
        EXPECT_EQ(head.size, ++index);
        EXPECT_EQ(head.number(), all.size() - 1);
      }
      all.back() += each.data;
      left -= each.data.size();
    }
    EXPECT_EQ(left, 0u);
    return all;
  }

  using Room = Outgoing::Room;
  TestPort port{kMtu};
  Peers peers{16, 0};
  Panda::Counts counts;
  run::LayerCosts costs;
  int waits = 0;
  int more_room = 0;  // that a wait brings
  Outgoing outgoing{port,
                    peers,
                    counts,
                    costs,
                    0,
                    {this,
                     [](void* self) {
                       auto& test = *static_cast<OutgoingTest*>(self);
                       ++test.waits;
                       test.port.room += test.more_room;
                     },
                     [](void* self, const Counter& sent) {
                       auto& test = *static_cast<OutgoingTest*>(self);
                       while (sent.ok == 0) {
                         ++test.waits;
                         test.port.room += test.more_room;
                         (void)test.outgoing.flush();
                       }
                     },
                     [](void*, const std::string& reason) { throw reason; }}};
};

TEST_F(OutgoingTest, CopiesOfHandlersGoLaterInOrder) {
  port.room = 2;
  std::string text(350, 'a');
  send(1, text, Room::copy);
  text.assign(350, 'x');  // what waits does not lie there
  send(1, "second", Room::copy);
  send(2, "other", Room::copy);
  EXPECT_TRUE(outgoing.waits());
  EXPECT_FALSE(outgoing.flush());
  port.room = 1;
  EXPECT_TRUE(outgoing.flush());
  EXPECT_EQ(outgoing.emptied().ok, 0u);
  port.room = 100;
  EXPECT_TRUE(outgoing.flush());
  // Expect: all of it, nothing within another message, and told once.
  EXPECT_FALSE(outgoing.waits());
  EXPECT_EQ(outgoing.emptied().ok, 1u);
  EXPECT_EQ(texts(1), (std::vector<std::string>{std::string(350, 'a'), "second"}));
  EXPECT_EQ(texts(2), (std::vector<std::string>{"other"}));
  EXPECT_FALSE(outgoing.flush());
  EXPECT_EQ(outgoing.emptied().ok, 1u);
}

TEST_F(OutgoingTest, OneThatWaitsIsSentFromWhereItLies) {
  port.room = 1;
  more_room = 1;
  send(1, std::string(250, 'a'), Room::queue);
  // Expect: two packets waited for room, and nothing is left.
  EXPECT_EQ(waits, 2);
  EXPECT_FALSE(outgoing.waits());
  EXPECT_EQ(texts(1), (std::vector<std::string>{std::string(250, 'a')}));
}

TEST_F(OutgoingTest, NobodyOvertakes) {
  port.room = 0;
  send(1, std::string(150, 'a'), Room::copy);
  send(1, "to all", Room::copy, true);
  more_room = 1;
  // Expect: one that may wait goes behind what waits, in either way of waiting.
  send(1, "queued", Room::queue);
  EXPECT_EQ(texts(1), (std::vector<std::string>{std::string(150, 'a'), "queued"}));
  port.room = 0;
  send(1, "copied", Room::copy);
  more_room = 2;
  send(1, "waited", Room::wait);
  EXPECT_EQ(texts(1),
            (std::vector<std::string>{std::string(150, 'a'), "queued", "copied", "waited"}));
  EXPECT_EQ(texts(1, true), (std::vector<std::string>{"to all"}));
}

// Expect: a long message to one rank does not take all the room there is.
TEST_F(OutgoingTest, DestinationsTakeTurns) {
  port.room = 0;
  send(1, std::string(1000, 'a'), Room::copy);
  send(1, "behind it", Room::copy);
  send(2, std::string(300, 'b'), Room::copy);
  for (int i = 0; i < 6; ++i) {
    port.room = 1;
    EXPECT_TRUE(outgoing.flush());
  }
  EXPECT_EQ(texts(2), (std::vector<std::string>{std::string(300, 'b')}));
  // Expect: of each message no more than is asked for.
  port.room = 100;
  EXPECT_TRUE(outgoing.flush(2));
  EXPECT_EQ(port.room, 98);
  EXPECT_TRUE(outgoing.flush());
  EXPECT_EQ(texts(1), (std::vector<std::string>{std::string(1000, 'a'), "behind it"}));
}

TEST_F(OutgoingTest, TooManyCopiesEndTheJob) {
  port.room = 0;
  const std::string text(std::size_t{1} << 26, 'a');
  for (int i = 0; i < 4; ++i) send(1, text, Room::copy);
  try {
    send(1, "one more", Room::copy);
    FAIL() << "more than the bound waits";
  } catch (const std::string& reason) {
    EXPECT_NE(reason.find("bytes wait for room, the last of them for rank 1, service 9"),
              std::string::npos)
        << reason;
  }
}

}  // namespace
}  // namespace fairlead::panda
