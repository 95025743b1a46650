// Events of a port by themselves, and the loss of peers on every way that a DirectPort and an NI
// engine has, the others going on.
#include "fairlead/lci/client/events.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

struct Told {
  std::vector<Event> events;
  Port* port = nullptr;
  Rank asks = 0;  // sends to it from the sink
  Post answer = Post::invalid;

  static void run(void* self, const Event& event) {
    auto& me = *static_cast<Told*>(self);
    me.events.push_back(event);
    if (me.port == nullptr) return;
    me.answer = me.port->send_small({me.asks}, 1, Lane::request, Words{}, {}, kNoFlags);
  }
  EventSink sink() { return {&Told::run, this}; }
};

class EventsTest : public ::testing::Test {
 protected:
  int run() {
    return client_.run_due(
        Ps{0}, [](void*, Packet*) {}, nullptr);
  }

  ClientSide client_;
  Events events_{client_, 4};
  Told told_;
};

TEST_F(EventsTest, ArePathsThatDoNotChange) {
  // Expect: a path of which nothing was told, also of a rank that there is not
  for (const Rank rank : {0u, 3u, 4u}) {
    EXPECT_EQ(events_.path(rank).changes, 0u);
    EXPECT_STREQ(events_.path(rank).reason, "");
  }
  EXPECT_FALSE(client_.has_due());
}

TEST_F(EventsTest, EachIsGivenOnceInOrderFromTheNextTurn) {
  events_.attach(told_.sink());
  events_.path_changed(1, true);
  events_.path_changed(1, false);
  events_.path_changed(3, true);
  events_.tell({Event::Kind::segment_withdrawn, 2, 7, "gone"});
  // Expect: none before the turn, all in it
  EXPECT_TRUE(told_.events.empty());
  EXPECT_EQ(run(), 1);
  ASSERT_EQ(told_.events.size(), 4u);
  EXPECT_EQ(told_.events[0].kind, Event::Kind::path_lost);
  EXPECT_EQ(told_.events[1].kind, Event::Kind::path_restored);
  EXPECT_EQ(told_.events[2].rank, 3u);
  EXPECT_EQ(told_.events[3].segment, 7u);
  EXPECT_EQ(events_.given(), 4u);
  // Expect: none twice; the state counts them
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(events_.path(1).changes, 2u);
  EXPECT_EQ(events_.path(1).lost, 1u);
  EXPECT_STREQ(events_.path(1).reason, kRailBack);
  EXPECT_EQ(events_.path(2).changes, 0u);
}

TEST_F(EventsTest, APeerThatIsDownStaysSo) {
  events_.attach(told_.sink());
  events_.peer_down(2);
  events_.peer_down(2, "another reason");
  events_.path_changed(2, false);
  run();
  // Expect: once, and nothing of it afterwards
  ASSERT_EQ(told_.events.size(), 1u);
  EXPECT_EQ(told_.events[0].kind, Event::Kind::peer_down);
  EXPECT_EQ(told_.events[0].rank, 2u);
  EXPECT_STREQ(told_.events[0].reason, kPeerDown);
  EXPECT_EQ(events_.path(2).changes, 1u);
  EXPECT_EQ(events_.path(2).lost, 1u);
}

TEST_F(EventsTest, WithoutASinkTheStateRemains) {
  events_.path_changed(1, true);
  // Expect: nothing is kept for a sink that comes later
  EXPECT_FALSE(client_.has_due());
  events_.attach(told_.sink());
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(events_.path(1).lost, 1u);
  // Expect: a client that has taken its sink back is told nothing
  events_.path_changed(1, false);
  events_.attach({});
  run();
  EXPECT_TRUE(told_.events.empty());
}

TEST_F(EventsTest, AClientMayHaveAllItsTasksBesides) {
  events_.attach(told_.sink());
  events_.path_changed(1, true);
  int ran = 0;
  const Task task{[](void* count) { ++*static_cast<int*>(count); }, &ran};
  for (std::size_t i = 0; i < ClientSide::kTasksMax; ++i) client_.defer(task);
  run();
  EXPECT_EQ(ran, static_cast<int>(ClientSide::kTasksMax));
  EXPECT_EQ(told_.events.size(), 1u);
}

class LostPeersTest : public DirectPortTest {};

TEST_P(LostPeersTest, AreToldOnceEachAndTheOthersGoOn) {
  start(4);
  Told told;
  told.port = &port(0);
  told.asks = 1;
  Inbox box;
  port(0).on_event(told.sink());
  port(1).bind(1, box.upcall(), {});
  // A fabric that connects its endpoints does so now.
  Inbox first;
  port(0).bind(2, first.upcall(), {});
  for (Rank rank = 1; rank < 4; ++rank) {
    ASSERT_EQ(port(rank).send_small({0}, 2, Lane::request, Words{}, {}, kNoFlags), Post::done);
  }
  ASSERT_TRUE(until([&] { return first.items.size() == 3; }));
  EXPECT_EQ(port(0).path(2).changes, 0u);
  mark_dead(2);
  mark_dead(3);
  // Expect: not while the client holds upcalls off
  port(0).hold();
  for (int i = 0; i < 100; ++i) port(0).poll();
  EXPECT_TRUE(told.events.empty());
  port(0).allow();
  // Expect: both, once, and the sink may send
  ASSERT_TRUE(until([&] { return told.events.size() == 2 && box.items.size() == 2; }));
  for (int i = 0; i < 100; ++i) poll_all();
  ASSERT_EQ(told.events.size(), 2u);
  for (const Event& event : told.events) EXPECT_EQ(event.kind, Event::Kind::peer_down);
  EXPECT_EQ(told.events[0].rank + told.events[1].rank, 5u);
  EXPECT_NE(told.events[0].rank, told.events[1].rank);
  EXPECT_EQ(told.answer, Post::done);
  // Expect: their paths are lost, the others' as ever
  for (const Rank rank : {2u, 3u}) {
    EXPECT_EQ(port(0).path(rank).lost, 1u);
    EXPECT_STREQ(port(0).path(rank).reason, kPeerDown);
  }
  EXPECT_EQ(port(0).path(1).changes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, LostPeersTest, ::testing::ValuesIn(remote_memory_ways()),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
