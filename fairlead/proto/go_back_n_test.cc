#include "fairlead/proto/go_back_n.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/proto/test_clock.h"

namespace fairlead::proto {
namespace {

constexpr Peer kPeer = 3;
constexpr GoBackN::Options kOptions{4, microseconds(100), microseconds(10), 5};

using Sent = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // item, sequence number

// What run_due() asked for.
struct Due {
  std::vector<Peer> acks;
  Sent again;
  std::vector<Peer> lost;
};
Due run_due(GoBackN& flow, TestClock& clock) {
  Due due;
  flow.run_due(
      clock,
      [&](Peer peer) {
        (void)flow.take_ack(peer);
        due.acks.push_back(peer);
      },
      [&](Peer, std::uint32_t item, std::uint32_t sequence) {
        due.again.emplace_back(item, sequence);
      },
      [&](Peer peer) { due.lost.push_back(peer); });
  return due;
}

struct Freed {
  std::vector<std::uint32_t> items;
  bool ok;
};
Freed acknowledge(GoBackN& flow, TestClock& clock, std::uint32_t ack) {
  Freed freed;
  freed.ok = flow.acknowledged(clock, kPeer, ack,
                               [&](std::uint32_t item) { freed.items.push_back(item); });
  return freed;
}

// Takes a packet that is in order, as a receiver with room does.
Verdict receive(GoBackN& flow, TestClock& clock, std::uint32_t sequence) {
  const Verdict verdict = flow.arrived(clock, kPeer, sequence);
  if (verdict != Verdict::in_order) return verdict;
  flow.accept(kPeer);
  (void)flow.released(clock, kPeer);
  return verdict;
}

TEST(GoBackN, NumbersInOrderUntilTheWindowIsFull) {
  GoBackN flow(kOptions);
  TestClock clock;
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(flow.open(clock, kPeer));
    EXPECT_EQ(flow.number(clock, kPeer, 10 + i), i);
  }
  EXPECT_FALSE(flow.open(clock, kPeer));
  EXPECT_FALSE(flow.room(kPeer));
  // Expect: another peer's window is its own
  EXPECT_TRUE(flow.open(clock, kPeer + 1));
  EXPECT_EQ(flow.number(clock, kPeer + 1, 99), 0u);
  EXPECT_EQ(flow.unacknowledged(kPeer), 4u);
  // Expect: an acknowledgment frees what came before it, the oldest first, and opens the window
  const Freed freed = acknowledge(flow, clock, 3);
  EXPECT_TRUE(freed.ok);
  EXPECT_EQ(freed.items, (std::vector<std::uint32_t>{10, 11, 12}));
  EXPECT_EQ(flow.unacknowledged(kPeer), 1u);
  EXPECT_TRUE(flow.open(clock, kPeer));
  EXPECT_FALSE(flow.idle());
}

TEST(GoBackN, AcknowledgmentsThatAreOldOrFalse) {
  GoBackN flow(kOptions);
  TestClock clock;
  for (std::uint32_t i = 0; i < 3; ++i) (void)flow.number(clock, kPeer, i);
  EXPECT_EQ(acknowledge(flow, clock, 2).items.size(), 2u);
  // Expect: one that was overtaken tells nothing
  const Freed old = acknowledge(flow, clock, 1);
  EXPECT_TRUE(old.ok);
  EXPECT_TRUE(old.items.empty());
  EXPECT_TRUE(acknowledge(flow, clock, 2).items.empty());
  // Expect: one for what was never sent is not believed
  const Freed wrong = acknowledge(flow, clock, 4);
  EXPECT_FALSE(wrong.ok);
  EXPECT_TRUE(wrong.items.empty());
  EXPECT_EQ(flow.unacknowledged(kPeer), 1u);
}

TEST(GoBackN, TakesTheNextAndTellsDuplicatesFromGaps) {
  GoBackN flow(kOptions);
  TestClock clock;
  EXPECT_EQ(receive(flow, clock, 0), Verdict::in_order);
  EXPECT_EQ(receive(flow, clock, 2), Verdict::gap);
  EXPECT_EQ(receive(flow, clock, 0), Verdict::duplicate);
  EXPECT_EQ(receive(flow, clock, 1), Verdict::in_order);
  EXPECT_EQ(receive(flow, clock, 2), Verdict::in_order);
  EXPECT_EQ(flow.take_ack(kPeer), 3u);
  EXPECT_FALSE(flow.owes(kPeer));
  // Expect: a packet that came but was not taken (no room) is still the next one
  EXPECT_EQ(flow.arrived(clock, kPeer, 3), Verdict::in_order);
  EXPECT_EQ(flow.arrived(clock, kPeer, 3), Verdict::in_order);
}

TEST(GoBackN, ALostAcknowledgmentIsSaidAgainToTheDuplicate) {
  GoBackN flow(kOptions);
  TestClock clock;
  (void)receive(flow, clock, 0);
  EXPECT_EQ(flow.take_ack(kPeer), 1u);  // lost
  EXPECT_EQ(receive(flow, clock, 0), Verdict::duplicate);
  EXPECT_TRUE(flow.owes(kPeer));
  clock.time += kOptions.ack_delay;
  EXPECT_EQ(run_due(flow, clock).acks, (std::vector<Peer>{kPeer}));
  EXPECT_EQ(flow.take_ack(kPeer), 1u);
}

TEST(GoBackN, AcknowledgesHalfAWindowAtOnce) {
  GoBackN flow(kOptions);
  TestClock clock;
  flow.accept(kPeer);
  EXPECT_FALSE(flow.released(clock, kPeer));
  flow.accept(kPeer);
  EXPECT_TRUE(flow.released(clock, kPeer));
  EXPECT_EQ(flow.take_ack(kPeer), 2u);
  // Expect: what rode on a packet counts no more
  flow.accept(kPeer);
  EXPECT_FALSE(flow.released(clock, kPeer));
}

TEST(GoBackN, AcknowledgesAtAnotherPartOfTheWindow) {
  TestClock clock;
  GoBackN flow({.window = 8,
                .timeout = microseconds(100),
                .ack_delay = microseconds(10),
                .tries_max = 5,
                .ack_part = 4});
  // Expect: a quarter of 8, twice.
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(flow.arrived(clock, kPeer, i), Verdict::in_order);
    flow.accept(kPeer);
    EXPECT_EQ(flow.released(clock, kPeer), i % 2 == 1);
    if (i % 2 == 1) {
      EXPECT_EQ(flow.take_ack(kPeer), i + 1);
    }
  }
}

TEST(GoBackN, ADelayedAcknowledgmentUnlessOneRode) {
  GoBackN flow(kOptions);
  TestClock clock;
  EXPECT_EQ(flow.next_due(), kNever);
  (void)receive(flow, clock, 0);
  EXPECT_EQ(flow.next_due(), kOptions.ack_delay);
  clock.time = kOptions.ack_delay - Ps{1};
  EXPECT_TRUE(run_due(flow, clock).acks.empty());
  clock.time = kOptions.ack_delay;
  EXPECT_EQ(run_due(flow, clock).acks.size(), 1u);
  EXPECT_EQ(flow.next_due(), kNever);
  // Expect: nothing where a packet has carried it meanwhile
  (void)receive(flow, clock, 1);
  (void)flow.take_ack(kPeer);
  clock.time += kOptions.ack_delay;
  EXPECT_TRUE(run_due(flow, clock).acks.empty());
  // Expect: the full delay for the next one, though an older entry comes due within it
  (void)receive(flow, clock, 2);
  (void)flow.take_ack(kPeer);
  clock.time += kOptions.ack_delay / 2;
  (void)receive(flow, clock, 3);
  clock.time += kOptions.ack_delay / 2;
  EXPECT_TRUE(run_due(flow, clock).acks.empty());
  clock.time += kOptions.ack_delay / 2;
  EXPECT_EQ(run_due(flow, clock).acks.size(), 1u);
}

TEST(GoBackN, SendsEverythingAgainAfterTheTimeout) {
  GoBackN flow(kOptions);
  TestClock clock;
  (void)flow.number(clock, kPeer, 7);
  clock.time = microseconds(60);
  (void)flow.number(clock, kPeer, 8);
  clock.time = kOptions.timeout - Ps{1};
  EXPECT_TRUE(run_due(flow, clock).again.empty());
  clock.time = kOptions.timeout;
  EXPECT_EQ(run_due(flow, clock).again, (Sent{{7, 0}, {8, 1}}));
  // Expect: twice the time now
  clock.time = kOptions.timeout * 2;
  EXPECT_TRUE(run_due(flow, clock).again.empty());
  clock.time = kOptions.timeout * 3;
  EXPECT_EQ(run_due(flow, clock).again.size(), 2u);
  // Expect: progress starts over, from then on
  (void)acknowledge(flow, clock, 1);
  clock.time = kOptions.timeout * 4;
  EXPECT_EQ(run_due(flow, clock).again, (Sent{{8, 1}}));
  // Expect: nothing once all is acknowledged
  (void)acknowledge(flow, clock, 2);
  EXPECT_TRUE(flow.idle());
  clock.time = kOptions.timeout * 100;
  EXPECT_TRUE(run_due(flow, clock).again.empty());
  EXPECT_EQ(flow.next_due(), kNever);
}

TEST(GoBackN, IsDueOnlyWhereSomethingIsToBeDone) {
  GoBackN flow(kOptions);
  TestClock clock;
  // An acknowledgment that left with a packet; that packet, acknowledged.
  (void)receive(flow, clock, 0);
  (void)flow.take_ack(kPeer);
  (void)flow.number(clock, kPeer, 7);
  (void)acknowledge(flow, clock, 1);
  clock.time = kOptions.timeout;
  EXPECT_LE(flow.next_due(), clock.time);
  EXPECT_FALSE(flow.is_due(clock));
  EXPECT_EQ(flow.next_due(), kNever);
  // Expect: what stands comes due at its time, though an older deadline was there, and stays due
  (void)receive(flow, clock, 1);
  (void)flow.take_ack(kPeer);
  clock.time += kOptions.ack_delay / 2;
  (void)receive(flow, clock, 2);
  clock.time += kOptions.ack_delay / 2;
  EXPECT_FALSE(flow.is_due(clock));
  clock.time += kOptions.ack_delay / 2;
  EXPECT_TRUE(flow.is_due(clock));
  EXPECT_TRUE(flow.is_due(clock));
  EXPECT_EQ(run_due(flow, clock).acks.size(), 1u);
  // Expect: the same of a timeout
  (void)flow.number(clock, kPeer, 8);
  clock.time += kOptions.timeout - Ps{1};
  EXPECT_FALSE(flow.is_due(clock));
  clock.time += Ps{1};
  EXPECT_TRUE(flow.is_due(clock));
  EXPECT_EQ(run_due(flow, clock).again, (Sent{{8, 1}}));
}

TEST(GoBackN, APeerThatNeverAnswersIsLost) {
  GoBackN flow(kOptions);
  TestClock clock;
  (void)flow.number(clock, kPeer, 7);
  std::size_t again = 0;
  std::vector<Ps> times;
  for (Due due; due.lost.empty(); due = run_due(flow, clock)) {
    ASSERT_LT(times.size(), 20u);
    again += due.again.size();
    if (flow.next_due() == kNever) break;
    clock.time = flow.next_due();
    times.push_back(clock.time);
  }
  // Expect: as many tries as were asked for, each timeout twice the last, up to 16 times the first
  EXPECT_EQ(again, kOptions.tries_max);
  ASSERT_EQ(times.size(), kOptions.tries_max + 1);
  const std::int64_t factors[] = {1, 2, 4, 8, 16, 16};
  Ps at{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    at += kOptions.timeout * factors[i];
    EXPECT_EQ(times[i], at) << i;
  }
}

TEST(GoBackN, NumbersWrap) {
  GoBackN::Options options = kOptions;
  options.first = UINT32_MAX - 1;
  GoBackN flow(options);
  TestClock clock;
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(flow.number(clock, kPeer, i), UINT32_MAX - 1 + i);
  }
  EXPECT_FALSE(flow.room(kPeer));
  // Expect: acknowledged over the wrap; one from before it is old, one from after it too new
  EXPECT_EQ(acknowledge(flow, clock, 1).items, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(acknowledge(flow, clock, UINT32_MAX).ok);
  EXPECT_FALSE(acknowledge(flow, clock, 3).ok);
  EXPECT_EQ(flow.unacknowledged(kPeer), 1u);
  // Expect: the receiver's order over the wrap
  EXPECT_EQ(receive(flow, clock, UINT32_MAX - 1), Verdict::in_order);
  EXPECT_EQ(receive(flow, clock, 0), Verdict::gap);
  EXPECT_EQ(receive(flow, clock, UINT32_MAX), Verdict::in_order);
  EXPECT_EQ(receive(flow, clock, 0), Verdict::in_order);
  EXPECT_EQ(receive(flow, clock, UINT32_MAX), Verdict::duplicate);
  EXPECT_EQ(flow.take_ack(kPeer), 1u);
}

// Two endpoints and the channel between them, which loses, doubles and delays.
class LossyPair {
 public:
  LossyPair(std::uint64_t seed, const GoBackN::Options& options)
      : random_(seed), ends_{End(options), End(options)} {}

  // Each end sends `count` packets to the other; what is wrong with what came, or nullptr.
  const char* run(std::uint32_t count) {
    while (!done(count)) {
      if (++steps_ > 2'000'000) return "it does not end";
      clock_.time += nanoseconds(500);
      for (std::size_t self = 0; self < 2; ++self) turn(self, count);
      if (wrong_ != nullptr) return wrong_;
    }
    return nullptr;
  }
  std::uint64_t again() const { return again_; }

 private:
  struct Packet {
    bool numbered;
    std::uint32_t item;
    std::uint32_t sequence;
    std::uint32_t ack;
    Ps at;
  };
  struct End {
    explicit End(const GoBackN::Options& options) : flow(options) {}
    GoBackN flow;
    std::uint32_t sent = 0;
    std::uint32_t freed = 0;
    std::uint32_t received = 0;
    std::deque<Packet> incoming;
  };

  bool done(std::uint32_t count) const {
    return ends_[0].received == count && ends_[1].received == count && ends_[0].flow.idle() &&
           ends_[1].flow.idle();
  }
  void put(std::size_t self, bool numbered, std::uint32_t item, std::uint32_t sequence) {
    const Packet packet{numbered, item, sequence, ends_[self].flow.take_ack(kPeer),
                        clock_.time + nanoseconds(static_cast<std::int64_t>(random_.below(9'000)))};
    if (random_.chance(0.1)) return;
    ends_[1 - self].incoming.push_back(packet);
    if (random_.chance(0.05)) ends_[1 - self].incoming.push_back(packet);
  }
  void turn(std::size_t self, std::uint32_t count) {
    End& end = ends_[self];
    if (end.sent < count && random_.chance(0.3) && end.flow.open(clock_, kPeer)) {
      put(self, true, end.sent, end.flow.number(clock_, kPeer, end.sent));
      ++end.sent;
    }
    // At most one packet a turn, the one that is there first: later ones may pass earlier ones.
    for (auto it = end.incoming.begin(); it != end.incoming.end(); ++it) {
      if (it->at > clock_.time) continue;
      const Packet packet = *it;
      end.incoming.erase(it);
      take(self, packet);
      break;
    }
    end.flow.run_due(
        clock_, [&](Peer) { put(self, false, 0, 0); },
        [&](Peer, std::uint32_t item, std::uint32_t sequence) {
          ++again_;
          put(self, true, item, sequence);
        },
        [&](Peer) { wrong_ = "a peer was lost"; });
  }
  void take(std::size_t self, const Packet& packet) {
    End& end = ends_[self];
    Verdict verdict = Verdict::gap;
    if (packet.numbered) verdict = end.flow.arrived(clock_, kPeer, packet.sequence);
    const bool believed = end.flow.acknowledged(clock_, kPeer, packet.ack, [&](std::uint32_t item) {
      if (item != end.freed++) wrong_ = "freed out of order";
    });
    if (!believed) wrong_ = "a true acknowledgment was not believed";
    if (verdict != Verdict::in_order || random_.chance(0.05)) return;  // or no room for it
    if (packet.item != end.received++) wrong_ = "received out of order";
    end.flow.accept(kPeer);
    if (end.flow.released(clock_, kPeer)) put(self, false, 0, 0);
  }

  Prng random_;
  TestClock clock_;
  End ends_[2];
  std::uint64_t steps_ = 0;
  std::uint64_t again_ = 0;
  const char* wrong_ = nullptr;
};

constexpr GoBackN::Options kAdaptive{.window = 8,
                                     .timeout = milliseconds(5),
                                     .ack_delay = microseconds(10),
                                     .tries_max = 50,
                                     .timeout_min = microseconds(500),
                                     .asks = true};

TEST(GoBackN, TheTimeoutFollowsTheRoundTrip) {
  GoBackN flow(kAdaptive);
  TestClock clock;
  for (std::uint32_t i = 0; i < 20; ++i) {
    (void)flow.number(clock, kPeer, i);
    clock.time += microseconds(100);
    EXPECT_EQ(acknowledge(flow, clock, i + 1).items.size(), 1u);
    EXPECT_TRUE(run_due(flow, clock).again.empty());
  }
  (void)flow.number(clock, kPeer, 20);
  // The entry of the first timeout, 5 ms, has to come to its end.
  clock.time += milliseconds(5);
  EXPECT_EQ(run_due(flow, clock).again.size(), 1u);
  EXPECT_TRUE(acknowledge(flow, clock, 21).ok);
  // Expect: the next loss costs the shortest timeout, twice it as nothing was measured since
  (void)flow.number(clock, kPeer, 21);
  clock.time += microseconds(990);
  EXPECT_TRUE(run_due(flow, clock).again.empty());
  clock.time += microseconds(20);
  EXPECT_EQ(run_due(flow, clock).again.size(), 1u);
  EXPECT_TRUE(acknowledge(flow, clock, 22).ok);
  (void)flow.number(clock, kPeer, 22);
  clock.time += microseconds(100);
  EXPECT_TRUE(acknowledge(flow, clock, 23).ok);
  (void)flow.number(clock, kPeer, 23);
  EXPECT_LE(flow.next_due() - clock.time, milliseconds(2));
  // Expect: it doubles no further than the timeout given, while anything goes through
  int tries = 0;
  for (const Ps end = clock.time + milliseconds(12); clock.time < end;) {
    clock.time = std::max(clock.time, flow.next_due());
    tries += run_due(flow, clock).again.empty() ? 0 : 1;
  }
  EXPECT_GE(tries, 5);
}

// A timeout that is measured may be too short where the peer has many to serve.
TEST(GoBackN, AMeasuredTimeoutSendsTheOldestAloneAndAllWhereNothingElseCame) {
  GoBackN flow(kAdaptive);
  TestClock clock;
  const auto times_out = [&] {
    clock.time += milliseconds(100);
    std::vector<std::uint32_t> sequences;
    for (const auto& [item, sequence] : run_due(flow, clock).again) sequences.push_back(sequence);
    return sequences;
  };
  for (std::uint32_t i = 0; i < 6; ++i) (void)flow.number(clock, kPeer, i);
  // Expect: one packet, again as long as nothing comes
  EXPECT_EQ(times_out(), std::vector<std::uint32_t>{0});
  EXPECT_EQ(times_out(), std::vector<std::uint32_t>{0});
  // Expect: who has taken more than that one was late, and is asked anew
  EXPECT_TRUE(acknowledge(flow, clock, 2).ok);
  EXPECT_EQ(times_out(), std::vector<std::uint32_t>{2});
  // Expect: who has taken that one alone lacks the others
  EXPECT_TRUE(acknowledge(flow, clock, 3).ok);
  EXPECT_EQ(times_out(), (std::vector<std::uint32_t>{3, 4, 5}));
  EXPECT_EQ(times_out(), std::vector<std::uint32_t>{3});
  // Expect: where it was the last one, nothing is known of what is sent later
  EXPECT_TRUE(acknowledge(flow, clock, 5).ok);
  EXPECT_EQ(times_out(), std::vector<std::uint32_t>{5});
  EXPECT_TRUE(acknowledge(flow, clock, 6).ok);
  for (std::uint32_t i = 6; i < 9; ++i) (void)flow.number(clock, kPeer, i);
  EXPECT_EQ(times_out(), std::vector<std::uint32_t>{6});
}

TEST(GoBackN, AGapIsAskedForOnceUntilTheSenderBeginsAgain) {
  GoBackN flow(kAdaptive);
  TestClock clock;
  EXPECT_EQ(receive(flow, clock, 0), Verdict::in_order);
  EXPECT_EQ(receive(flow, clock, 2), Verdict::gap);
  EXPECT_TRUE(flow.asks(kPeer, 2));
  EXPECT_FALSE(flow.asks(kPeer, 3));
  EXPECT_FALSE(flow.asks(kPeer, 4));
  // Expect: what was sent again lacks the same packet
  EXPECT_TRUE(flow.asks(kPeer, 2));
  EXPECT_FALSE(flow.asks(kPeer, 3));
  EXPECT_EQ(receive(flow, clock, 1), Verdict::in_order);
  // Expect: another gap is another question, and other peers have their own
  EXPECT_TRUE(flow.asks(kPeer, 5));
  EXPECT_TRUE(flow.asks(kPeer + 1, 5));
  // Expect: nobody asks where the options say so
  GoBackN quiet(kOptions);
  EXPECT_FALSE(quiet.asks(kPeer, 2));
}

TEST(GoBackN, EverythingComesOnceInOrderOverALossyChannel) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto window = static_cast<std::uint32_t>(1 + seed % 9);
    LossyPair pair(seed, {window, microseconds(40), microseconds(10), 60000,
                          static_cast<std::uint32_t>(UINT32_MAX - seed * 7)});
    EXPECT_EQ(pair.run(400), nullptr) << "seed " << seed;
    EXPECT_GT(pair.again(), 0u) << "seed " << seed;
    // Expect: the same where the timeout follows the round trip
    LossyPair adaptive(seed, {.window = window,
                              .timeout = microseconds(400),
                              .ack_delay = microseconds(10),
                              .tries_max = 60000,
                              .timeout_min = microseconds(20)});
    EXPECT_EQ(adaptive.run(400), nullptr) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fairlead::proto
