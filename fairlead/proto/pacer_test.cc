#include "fairlead/proto/pacer.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/proto/selective_repeat.h"
#include "fairlead/proto/test_clock.h"

namespace fairlead::proto {
namespace {

// A way with one slow place: packets queue before it, and those that find the queue full are lost.
// Endless data from one end; the other acknowledges. Time passes in steps of 1/4 us.
struct Way {
  Ps each;                          // the slow place takes so long for a packet
  std::uint32_t queue;              // packets
  Ps delay;                         // one way, beside that
  std::uint32_t lost_permille = 0;  // beside those
};
struct Outcome {
  std::uint32_t arrived = 0;  // packets, for the first time
  std::uint32_t lost = 0;
  double lost_share() const { return static_cast<double>(lost) / (arrived + lost); }
};
Outcome stream(const Way& way, bool paced, Ps length) {
  constexpr Peer kPeer = 0;
  const SelectiveRepeat::Options options{.window_max = 512,
                                         .window_first = 16,
                                         .timeout_first = milliseconds(5),
                                         .timeout_min = microseconds(300),
                                         .timeout_max = milliseconds(100),
                                         .ack_delay = microseconds(50),
                                         .ack_every = 16,
                                         .ack_every_max = 64};
  struct Datagram {
    Ps at;  // arrives
    std::uint32_t sequence;
    Ps stamp;
    std::vector<std::uint64_t> early;
  };
  TestClock clock;
  Prng draw(1);
  SelectiveRepeat sender(1, options), receiver(1, options);
  Pacer pacer;
  std::deque<Datagram> there, back;
  Ps free_at{};  // the slow place is
  Outcome outcome;
  Ps stamp{};  // of what came last
  const auto put = [&](std::uint32_t sequence) {
    const Ps behind = free_at > clock.time ? free_at - clock.time : Ps{};
    if (draw.below(1000) < way.lost_permille || behind.count / way.each.count >= way.queue) {
      ++outcome.lost;
      return;
    }
    free_at = clock.time + behind + way.each;
    there.push_back({free_at + way.delay, sequence, clock.time, {}});
  };
  const auto acknowledge = [&](Peer) {
    std::vector<std::uint64_t> words(receiver.early_words());
    const std::uint32_t next = receiver.take_ack(kPeer);
    words.resize(receiver.take_early(kPeer, words));
    back.push_back({clock.time + way.delay, next, stamp, words});
  };
  const auto send = [&] {
    const std::uint32_t ready = sender.lost(kPeer) + sender.free_window(kPeer);
    std::uint32_t may = ready;
    if (paced && ready > 0) may = pacer.may_leave(clock.time, sender.interval(kPeer), ready);
    pacer.left(may);
    for (; may > 0; --may) {
      put(sender.lost(kPeer) > 0 ? sender.take_lost(clock, kPeer).sequence
                                 : sender.number(clock, kPeer, 0));
    }
  };
  while (clock.time < length) {
    while (!there.empty() && there.front().at <= clock.time) {
      const std::uint32_t sequence = there.front().sequence;
      stamp = there.front().stamp;
      there.pop_front();
      const auto came = receiver.arrived(clock, kPeer, sequence);
      if (came == Verdict::in_order) receiver.accept(kPeer);
      if (came == Verdict::early) receiver.keep(kPeer, sequence, 0);
      if (came == Verdict::in_order || came == Verdict::early) ++outcome.arrived;
      while (receiver.take_kept(clock, kPeer) != SelectiveRepeat::kNothing) {
      }
      if (receiver.urgent(kPeer)) acknowledge(kPeer);
    }
    while (!back.empty() && back.front().at <= clock.time) {
      const Datagram& one = back.front();
      EXPECT_TRUE(sender.acknowledged(clock, kPeer, {one.sequence, one.early, one.stamp},
                                      [](std::uint32_t) {}));
      sender.measured(kPeer, clock.time - one.stamp);
      back.pop_front();
    }
    receiver.run_due(clock, acknowledge, [](Peer, std::uint32_t, std::uint32_t) {});
    sender.run_due(
        clock, [](Peer) {}, [&](Peer, std::uint32_t, std::uint32_t sequence) { put(sequence); });
    send();
    clock.time += nanoseconds(250);
  }
  return outcome;
}

TEST(Pacer, ABurstThenSlices) {
  Pacer pacer({.burst = 4, .slice = microseconds(20)});
  Ps now = microseconds(1000);
  // Expect: without an interval all of them
  EXPECT_EQ(pacer.may_leave(now, Ps{0}, 100), 100u);
  const Ps interval = microseconds(4);
  EXPECT_EQ(pacer.may_leave(now, interval, 100), 5u);  // a slice is more than the burst here
  pacer.left(5);
  EXPECT_EQ(pacer.may_leave(now, interval, 100), 0u);
  EXPECT_TRUE(pacer.held());
  EXPECT_EQ(pacer.due(), now + microseconds(20));
  // Expect: not for each one that is earned, but for the last one
  now += microseconds(19);
  EXPECT_EQ(pacer.may_leave(now, interval, 100), 0u);
  EXPECT_EQ(pacer.may_leave(now, interval, 4), 4u);
  EXPECT_EQ(pacer.may_leave(now, interval, 100), 0u);
  now += microseconds(1);
  EXPECT_EQ(pacer.may_leave(now, interval, 100), 5u);
  EXPECT_FALSE(pacer.held());
  pacer.left(5);
  // Expect: two at least, however slow the way
  EXPECT_EQ(pacer.may_leave(now, microseconds(40), 100), 0u);
  EXPECT_EQ(pacer.due(), now + microseconds(80));
}

TEST(Pacer, WhatIsEarnedInAPauseIsABurst) {
  Pacer pacer({.burst = 8, .slice = microseconds(20), .late = microseconds(100)});
  const Ps interval = microseconds(10);
  pacer.left(8);
  EXPECT_EQ(pacer.may_leave(milliseconds(1), interval, 100), 8u);
  pacer.left(8);
  // Expect: more for those that wait, and are looked at late
  EXPECT_EQ(pacer.may_leave(milliseconds(1), interval, 100), 0u);
  EXPECT_EQ(pacer.may_leave(milliseconds(1) + microseconds(90), interval, 100), 9u);
  pacer.left(9);
  EXPECT_EQ(pacer.may_leave(milliseconds(1) + microseconds(90), interval, 100), 0u);
  EXPECT_EQ(pacer.may_leave(milliseconds(10), interval, 100), 18u);
}

TEST(Pacer, AShortQueueHoldsWhatIsPaced) {
  // 10 Gbit/s, packets of 1,500 bytes, and a queue of 60 KB.
  const Way far{nanoseconds(1200), 40, microseconds(200)};
  const Outcome burst = stream(far, false, milliseconds(100));
  const Outcome paced = stream(far, true, milliseconds(100));
  EXPECT_GE(paced.arrived, 2 * burst.arrived);
  EXPECT_LE(paced.lost_share(), 0.75 * burst.lost_share());
  // And one of 15 KB.
  const Way short_one{nanoseconds(1200), 10, microseconds(20)};
  EXPECT_GE(stream(short_one, true, milliseconds(100)).arrived,
            2 * stream(short_one, false, milliseconds(100)).arrived);
}

TEST(Pacer, NoRateIsLostByIt) {
  // 1 and 10 Gbit/s with queues that hold the window, without and with loss on the way.
  for (const Way& way :
       {Way{microseconds(12), 350, microseconds(20)}, Way{nanoseconds(1200), 350, microseconds(20)},
        Way{nanoseconds(1200), 350, microseconds(20), 10},
        Way{nanoseconds(1200), 700, microseconds(200)}}) {
    const Outcome burst = stream(way, false, milliseconds(100));
    const Outcome paced = stream(way, true, milliseconds(100));
    EXPECT_GE(paced.arrived * 50, burst.arrived * 49) << way.each.count << " " << way.queue;
    EXPECT_GE(paced.arrived * way.each.count, milliseconds(85).count) << way.each.count;
  }
}

}  // namespace
}  // namespace fairlead::proto
