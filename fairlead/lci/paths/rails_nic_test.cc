// Two rails between two ranks, made of queues, on a clock of the test's own; then with the reliable
// part above, on the clock.
#include "fairlead/lci/paths/rails_nic.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/lci/paths/rails_fixture.h"
#include "fairlead/lci/reliable/reliable_nic.h"

namespace fairlead::lci {
namespace {

using fabric::PacketKind;

using namespace rails_fixture;

TEST_F(RailsNicTest, APairUsesItsOwnRailWhileThatIsWell) {
  EXPECT_EQ(longest_silence(seconds(1)), Ps{});
  // Expect: nothing on the other one, in either direction
  EXPECT_EQ(sent_by(0, 0), 1000);
  EXPECT_EQ(sent_by(0, 1), 0);
  EXPECT_EQ(sent_by(1, 1), 0);
  // Expect: another pair has the other one
  fabric::Outgoing one{};
  one.header.client.kind = PacketKind::frame;
  nics_[0]->post_many(3, {&one, 1});
  EXPECT_EQ(sent_by(0, 1), 1);
}

TEST_F(RailsNicTest, TheRailThatBroughtSomethingLastIsLookedAtEveryTurn) {
  exchange();
  // A long pause.
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(nics_[1]->reap(64, fabric::kAllLanes), 0);
    if (i % 100 > 0) continue;
    send(0, PacketKind::frame);
    EXPECT_EQ(nics_[1]->reap(64, fabric::kAllLanes), 1) << i;
  }
}

TEST_F(RailsNicTest, TrafficMovesWhenTheRailFailsAndComesBackWithIt) {
  longest_silence(milliseconds(100));
  down_[0] = true;
  // Expect: moved within the time that makes a rail suspect, on both sides
  const Ps moved = longest_silence(seconds(1));
  EXPECT_LE(moved, kRailSilent * 2);
  EXPECT_GE(moved, kRailSilent);
  const int by_other = sent_by(0, 1);
  EXPECT_GT(by_other, 900);
  // Expect: the failed one is tried now and then only
  EXPECT_LT(sent_by(0, 0), 100 + 30 + 60);
  down_[0] = false;
  EXPECT_EQ(longest_silence(milliseconds(200)), Ps{});
  const int after = sent_by(0, 1);
  EXPECT_EQ(longest_silence(seconds(1)), Ps{});
  // Expect: back on its own
  EXPECT_EQ(sent_by(0, 1), after);
}

TEST_F(RailsNicTest, ARailThatKeepsFailingIsLeftAloneForLonger) {
  longest_silence(milliseconds(100));
  Ps waited{};
  for (int i = 0; i < 12; ++i) {
    down_[0] = true;
    EXPECT_LE(longest_silence(milliseconds(100)), kRailSilent * 2) << i;
    down_[0] = false;
    // Until it is used again.
    waited = Ps{};
    for (int used = sent_by(0, 1); waited < seconds(20); waited += milliseconds(50)) {
      EXPECT_EQ(longest_silence(milliseconds(50)), Ps{});
      if (sent_by(0, 1) == used) break;
      used = sent_by(0, 1);
    }
  }
  // Expect: seconds by now, and bounded
  EXPECT_GT(waited, seconds(2));
  EXPECT_LE(waited, kRailHoldMax + milliseconds(200));
}

TEST_F(RailsNicTest, APeerThatIsBusyLosesNothing) {
  answering_ = false;
  longest_silence(seconds(1));
  // Expect: both rails are tried in turn, and everything arrives
  EXPECT_GE(frames_, 1000);
  EXPECT_GT(sent_by(0, 0), 100);
  EXPECT_GT(sent_by(0, 1), 300);
  answering_ = true;
  EXPECT_LE(longest_silence(milliseconds(200)), kRailSilent * 2);
}

TEST_F(RailsNicTest, APauseOfThePeerIsNoReasonToTryADeadRail) {
  longest_silence(milliseconds(50));
  down_[0] = true;
  longest_silence(seconds(1));
  answering_ = false;
  longest_silence(milliseconds(150));
  answering_ = true;
  // Expect: it stayed where it was heard last
  EXPECT_EQ(longest_silence(milliseconds(100)), Ps{});
}

TEST_F(RailsNicTest, BothRailsDownIsNotTheEnd) {
  longest_silence(milliseconds(50));
  down_[0] = down_[1] = true;
  longest_silence(seconds(3));
  down_[1] = false;
  const int before = answers_;
  longest_silence(milliseconds(100));
  // Expect: whichever comes back is found
  EXPECT_GT(answers_, before + 50);
}

TEST_F(RailsNicTest, PacketsGoBackToTheRailTheyCameBy) {
  exchange();
  down_[0] = true;
  longest_silence(milliseconds(100));
  nics_[1]->release(tokens_.front());
  EXPECT_EQ(wires_[1][0]->released, (std::vector<std::uint64_t>{5}));
  nics_[1]->release(tokens_.back());
  nics_[0]->release(tokens_.back());
  EXPECT_EQ(wires_[1][1]->released, (std::vector<std::uint64_t>{5}));
  EXPECT_EQ(wires_[0][1]->released, (std::vector<std::uint64_t>{5}));
}

TEST_F(RailsNicTest, OneSequenceAboveTheRails) {
  std::unique_ptr<ReliableNic> tops[2];
  struct Got {
    std::uint32_t next = 0, wrong = 0;
  } got;
  const auto take = [](void* context, const fabric::Incoming& in) {
    auto& all = *static_cast<Got*>(context);
    all.wrong += in.header->client.words[0] != all.next++;
    return Keep::no;
  };
  for (std::size_t end = 0; end < 2; ++end) {
    ReliableOptions options;
    options.epoch = nanoseconds(monotonic_ns());
    tops[end] = make_reliable_nic(*nics_[end], options);
    tops[end]->attach({take, nullptr, &got});
  }
  // A rail fails, both do, and they come back, at these packets.
  constexpr std::uint32_t kPackets = 20'000;
  const std::byte data[900] = {};
  for (std::uint32_t number = 0; number < kPackets;) {
    test_ns = monotonic_ns();
    down_[0] = number / 3000 % 2 == 1;
    down_[1] = number / 4500 % 4 == 3;
    PacketHeader header{};
    header.client.kind = PacketKind::data;
    header.client.size = sizeof data;
    header.client.words[0] = number;
    const Piece piece{data, sizeof data};
    const Post answer = tops[0]->post(1, header, {&piece, 1});
    ASSERT_TRUE(answer == Post::done || answer == Post::again_credit ||
                answer == Post::again_buffer);
    if (answer == Post::done) ++number;
    // What waits for rails that are both down waits for ever.
    if (answer != Post::done && down_[0] && down_[1]) down_[1] = false;
    for (const auto& top : tops) top->reap(64, fabric::kAllLanes);
  }
  while (!tops[0]->settled()) {
    test_ns = monotonic_ns();
    for (const auto& top : tops) top->reap(64, fabric::kAllLanes);
  }
  // Expect: each once, in order
  EXPECT_EQ(got.next, kPackets);
  EXPECT_EQ(got.wrong, 0u);
}

TEST_F(RailsNicTest, ARailThatIsLostOrBackIsToldOnceToBoth) {
  longest_silence(seconds(1));
  EXPECT_EQ(told_[0] + told_[1], "");
  for (const char* expected : {"LR", "LRLR"}) {
    down_[0] = true;
    longest_silence(kRailSilent * 2 + kRailDead * 2);
    // Expect: told by now, at both ends
    EXPECT_EQ(told_[0] + "R", expected);
    EXPECT_EQ(told_[1] + "R", expected);
    longest_silence(seconds(1));
    down_[0] = false;
    // Expect: back as soon as something comes by it
    longest_silence(kRailProbe * 2);
    EXPECT_EQ(told_[0], expected);
    EXPECT_EQ(told_[1], expected);
    longest_silence(seconds(1));
  }
  EXPECT_EQ(told_[0], "LRLR");
  EXPECT_EQ(told_[1], "LRLR");
}

TEST_F(RailsNicTest, OneWayThatIsLostIsLost) {
  longest_silence(milliseconds(100));
  wires_[0][0]->to = nullptr;
  longest_silence(seconds(1));
  // Expect: told where nothing comes by it; the other end hears by it what is tried
  EXPECT_EQ(told_[1], "L");
  EXPECT_EQ(told_[0], "");
}

TEST_F(RailsNicTest, APeerThatIsBusyHasLostNoRail) {
  for (int i = 0; i < 20; ++i) {
    answering_ = false;
    longest_silence(milliseconds(17 * (i + 1)));
    answering_ = true;
    longest_silence(milliseconds(150));
  }
  // Expect: that the other rail was tried is no change
  EXPECT_GT(sent_by(0, 1), 0);
  EXPECT_EQ(told_[0] + told_[1], "");
}

TEST_F(RailsNicTest, BothRailsSilentAreNoChangeUntilOneIsHeard) {
  longest_silence(milliseconds(50));
  down_[0] = down_[1] = true;
  longest_silence(seconds(3));
  EXPECT_EQ(told_[0] + told_[1], "");
  down_[1] = false;
  longest_silence(seconds(1));
  EXPECT_EQ(told_[0], "L");
  EXPECT_EQ(told_[1], "L");
}

// Two ports over reliable parts over rails: what the client sees.
TEST_F(RailsNicTest, APortTellsOfALostRail) {
  std::unique_ptr<ReliableNic> tops[2];
  std::unique_ptr<Port> ports[2];
  std::vector<Event> told[2];
  int came = 0;
  for (std::size_t end = 0; end < 2; ++end) {
    ReliableOptions options;
    options.epoch = nanoseconds(monotonic_ns());
    tops[end] = make_reliable_nic(*nics_[end], options);
    ports[end] = make_direct_port(*tops[end], {});
    ports[end]->on_event({[](void* all, const Event& event) {
                            static_cast<std::vector<Event>*>(all)->push_back(event);
                          },
                          &told[end]});
  }
  ports[1]->bind(1,
                 {[](void* count, Packet*, const Arrival&) {
                    ++*static_cast<int*>(count);
                    return Keep::no;
                  },
                  &came},
                 {});
  int sent = 0;
  const auto exchange_for = [&](Ps time) {
    for (const std::int64_t end = monotonic_ns() + time.count / 1000; monotonic_ns() < end;) {
      test_ns = monotonic_ns();
      if (came == sent &&
          ports[0]->send_small({1}, 1, Lane::request, Words{}, {}, kNoBlock) == Post::done) {
        ++sent;
      }
      for (const auto& port : ports) port->poll();
    }
  };
  const auto changed = [&](std::size_t count) {
    for (int i = 0; i < 100 && (told[0].size() < count || told[1].size() < count); ++i) {
      exchange_for(milliseconds(100));
    }
    return told[0].size() == count && told[1].size() == count;
  };
  exchange_for(milliseconds(50));
  EXPECT_TRUE(told[0].empty() && told[1].empty());
  down_[0] = true;
  ASSERT_TRUE(changed(1));
  down_[0] = false;
  ASSERT_TRUE(changed(2));
  for (std::size_t end = 0; end < 2; ++end) {
    const auto peer = static_cast<Rank>(1 - end);
    EXPECT_EQ(told[end][0].kind, Event::Kind::path_lost);
    EXPECT_EQ(told[end][1].kind, Event::Kind::path_restored);
    EXPECT_EQ(told[end][0].rank, peer);
    EXPECT_EQ(ports[end]->path(peer).changes, 2u);
    EXPECT_EQ(ports[end]->path(peer).lost, 1u);
    EXPECT_STREQ(ports[end]->path(peer).reason, told[end][1].reason);
  }
  EXPECT_GT(came, 100);
}

TEST_F(RailsNicTest, ALostPeerIsToldOnce) {
  wires_[0][0]->lose(1);
  wires_[0][1]->lose(1);
  EXPECT_EQ(lost_, 1);
}

}  // namespace
}  // namespace fairlead::lci
