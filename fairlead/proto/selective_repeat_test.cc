#include "fairlead/proto/selective_repeat.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/proto/selective_repeat_fixture.h"
#include "fairlead/proto/test_clock.h"

namespace fairlead::proto {
namespace {

using namespace selective_repeat_fixture;

TEST(SelectiveRepeat, InOrderIsAcknowledgedByNumber) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 8);
  // Expect: the first window is full
  EXPECT_FALSE(sender.room(kPeer));
  const Answer answer = acknowledge(sender, clock, 3);
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.freed, (std::vector<std::uint32_t>{100, 101, 102}));
  EXPECT_TRUE(answer.again.empty());
  EXPECT_TRUE(sender.room(kPeer));
  // Expect: the same again frees nothing, and an older one does no harm
  EXPECT_TRUE(acknowledge(sender, clock, 3).freed.empty());
  EXPECT_TRUE(acknowledge(sender, clock, 1).ok);
  // Expect: what was never sent is not believed
  EXPECT_FALSE(acknowledge(sender, clock, 9).ok);
  EXPECT_FALSE(acknowledge(sender, clock, 3, {1u << 5}).ok);
  EXPECT_EQ(sender.unacknowledged(kPeer), 5u);
}

TEST(SelectiveRepeat, OnlyWhatIsMissingIsSentAgain) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 8);
  // Packet 2 is lost; 3, 4 and 5 have come.
  const Answer answer = acknowledge(sender, clock, 2, {0b1110});
  EXPECT_EQ(answer.freed, (std::vector<std::uint32_t>{100, 101, 103, 104, 105}));
  // Expect: 2 was passed by three; 6 and 7 were not
  EXPECT_EQ(answer.again, (Numbered{{102, 2}}));
  // Expect: not again for the same news
  EXPECT_TRUE(acknowledge(sender, clock, 2, {0b1110}).again.empty());
  // Expect: again when something sent after it has come
  clock.time = microseconds(100);
  (void)sender.number(clock, kPeer, 108);
  EXPECT_EQ(acknowledge(sender, clock, 2, {0b1001110}).again.size(), 3u);
}

TEST(SelectiveRepeat, WhatIsOvertakenByLittleIsNotLost) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 4);
  // Expect: two that came before 0 may have overtaken it
  EXPECT_TRUE(acknowledge(sender, clock, 0, {0b110}).again.empty());
  // Expect: all is well when it comes
  EXPECT_EQ(acknowledge(sender, clock, 3).freed, (std::vector<std::uint32_t>{100}));
}

TEST(SelectiveRepeat, EarlyPacketsAreKeptAndTold) {
  TestClock clock;
  SelectiveRepeat receiver(2, kOptions);
  EXPECT_EQ(receive(receiver, clock, 0), Verdict::in_order);
  EXPECT_EQ(receive(receiver, clock, 2), Verdict::early);
  // Expect: a gap is told of at once
  EXPECT_TRUE(receiver.urgent(kPeer));
  EXPECT_EQ(receive(receiver, clock, 2), Verdict::duplicate);
  EXPECT_EQ(receive(receiver, clock, 0), Verdict::duplicate);
  EXPECT_EQ(receive(receiver, clock, 5), Verdict::early);
  EXPECT_EQ(receive(receiver, clock, 1 + 64), Verdict::gap);
  EXPECT_EQ(receiver.take_ack(kPeer), 1u);
  std::vector<std::uint64_t> words(receiver.early_words());
  EXPECT_EQ(receiver.take_early(kPeer, words), 1u);
  EXPECT_EQ(words[0], 0b10010u);
  EXPECT_TRUE(take_all_kept(receiver, clock).empty());
  EXPECT_EQ(receive(receiver, clock, 1), Verdict::in_order);
  EXPECT_EQ(take_all_kept(receiver, clock), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(receiver.take_ack(kPeer), 3u);
  EXPECT_TRUE(receiver.keeps(kPeer));
}

// Sends until the window is full to who keeps all and takes nothing, told as if it were early.
// Returns how many that were.
std::uint32_t fill_who_takes_nothing(SelectiveRepeat& sender, SelectiveRepeat& receiver,
                                     TestClock& clock) {
  std::vector<std::uint64_t> words(receiver.early_words());
  std::uint32_t sent = 0;
  for (; sender.room(kPeer); ++sent) {
    send(sender, clock, 1);
    EXPECT_NE(receiver.arrived(clock, kPeer, sent), Verdict::gap);
    receiver.keep(kPeer, sent, sent);
    const std::size_t used = receiver.take_early(kPeer, words);
    const std::vector<std::uint64_t> told(words.begin(),
                                          words.begin() + static_cast<std::ptrdiff_t>(used));
    EXPECT_EQ(acknowledge(sender, clock, 0, told).freed.size(), 1u);
  }
  return sent;
}

TEST(SelectiveRepeat, WhatIsTakenLateIsToldThen) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  SelectiveRepeat receiver(2, kOptions);
  const std::uint32_t sent = fill_who_takes_nothing(sender, receiver, clock);
  EXPECT_EQ(take_all_kept(receiver, clock).size(), sent);
  // Expect: an acknowledgment, although nothing came, without which the window stays closed.
  clock.time += kOptions.ack_delay;
  EXPECT_EQ(run_due(receiver, clock).acks, (std::vector<Peer>{kPeer}));
  EXPECT_TRUE(acknowledge(sender, clock, sent).ok);
  EXPECT_TRUE(sender.room(kPeer));
  clock.time += kOptions.timeout_max * 2;
  EXPECT_TRUE(run_due(sender, clock).again.empty());
  EXPECT_EQ(sender.next_due(), kNever);
}

TEST(SelectiveRepeat, WhatIsTakenLateIsAskedForWhereTheTellingIsLost) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  SelectiveRepeat receiver(2, kOptions);
  const std::uint32_t sent = fill_who_takes_nothing(sender, receiver, clock);
  const std::uint32_t window = sender.window(kPeer);
  std::vector<std::uint64_t> words;
  // Expect: as long as the receiver takes nothing, it is asked, less and less often, by what needs
  // nothing that was freed, and the window is not blamed.
  int times = 0;
  for (; clock.time < milliseconds(40); clock.time += microseconds(100)) {
    for (const auto& one : run_due(sender, clock).again) {
      EXPECT_EQ(one, (std::pair{SelectiveRepeat::kNothing, 0u}));
      EXPECT_EQ(receiver.arrived(clock, kPeer, one.second), Verdict::duplicate);
      EXPECT_TRUE(receiver.urgent(kPeer));
      words.resize(receiver.early_words());
      words.resize(receiver.take_early(kPeer, words));
      EXPECT_TRUE(acknowledge(sender, clock, receiver.take_ack(kPeer), words).freed.empty());
      ++times;
    }
  }
  EXPECT_GE(times, 3);
  EXPECT_LE(times, 8);
  EXPECT_EQ(sender.window(kPeer), window);
  // Expect: it takes all, its telling is lost, and the next question opens the window.
  EXPECT_EQ(take_all_kept(receiver, clock).size(), sent);
  clock.time += kOptions.ack_delay;
  EXPECT_EQ(run_due(receiver, clock).acks.size(), 1u);
  clock.time += kOptions.timeout_max;
  const Numbered again = run_due(sender, clock).again;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(receiver.arrived(clock, kPeer, again[0].second), Verdict::duplicate);
  EXPECT_TRUE(receiver.urgent(kPeer));
  EXPECT_TRUE(acknowledge(sender, clock, receiver.take_ack(kPeer)).ok);
  EXPECT_TRUE(sender.room(kPeer));
  // Expect: nothing is asked any more, and timeouts begin with the first one again.
  clock.time += kOptions.timeout_max * 2;
  EXPECT_TRUE(run_due(sender, clock).again.empty());
  EXPECT_EQ(sender.next_due(), kNever);
  EXPECT_EQ(sender.timeout(kPeer), kOptions.timeout_first);
}

TEST(SelectiveRepeat, NumbersWrap) {
  TestClock clock;
  SelectiveRepeat::Options options = kOptions;
  options.first = UINT32_MAX - 1;
  SelectiveRepeat sender(2, options);
  SelectiveRepeat receiver(2, options);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(sender.number(clock, kPeer, i), UINT32_MAX - 1 + i);
  }
  EXPECT_EQ(receive(receiver, clock, UINT32_MAX), Verdict::early);
  EXPECT_EQ(receive(receiver, clock, 1), Verdict::early);
  EXPECT_EQ(receive(receiver, clock, UINT32_MAX - 1), Verdict::in_order);
  EXPECT_EQ(take_all_kept(receiver, clock), (std::vector<std::uint32_t>{UINT32_MAX}));
  EXPECT_EQ(receive(receiver, clock, UINT32_MAX), Verdict::duplicate);
  EXPECT_EQ(receiver.take_ack(kPeer), 0u);
  EXPECT_EQ(acknowledge(sender, clock, 0, {0b10}).freed, (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(SelectiveRepeat, ATimeoutSendsTheOldestAndDoubles) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 3);
  clock.time = microseconds(999);
  EXPECT_TRUE(run_due(sender, clock).again.empty());
  clock.time = microseconds(1000);
  EXPECT_EQ(run_due(sender, clock).again, (Numbered{{100, 0}}));
  clock.time = microseconds(2999);
  EXPECT_TRUE(run_due(sender, clock).again.empty());
  clock.time = microseconds(3000);
  EXPECT_EQ(run_due(sender, clock).again, (Numbered{{100, 0}}));
  // Expect: a late answer to the first one shows nothing, one to it what else is missing
  clock.time = microseconds(3010);
  EXPECT_TRUE(acknowledge(sender, clock, 1, {}, Ps{0}).again.empty());
  EXPECT_EQ(acknowledge(sender, clock, 1, {}, microseconds(3000)).again,
            (Numbered{{101, 1}, {102, 2}}));
  EXPECT_EQ(acknowledge(sender, clock, 3).freed.size(), 2u);
  EXPECT_EQ(sender.timeout(kPeer), microseconds(1000));
  clock.time = microseconds(100'000);
  EXPECT_TRUE(run_due(sender, clock).again.empty());
}

TEST(SelectiveRepeat, TheTimeoutFollowsTheRoundTrip) {
  SelectiveRepeat sender(2, kOptions);
  sender.measured(kPeer, microseconds(400));
  EXPECT_EQ(sender.timeout(kPeer), microseconds(1200));
  for (int i = 0; i < 100; ++i) sender.measured(kPeer, microseconds(5));
  EXPECT_EQ(sender.timeout(kPeer), microseconds(200));
}

TEST(SelectiveRepeat, AnAcknowledgmentWaitsForAPacketToRideOn) {
  TestClock clock;
  SelectiveRepeat receiver(2, kOptions);
  EXPECT_EQ(receive(receiver, clock, 0), Verdict::in_order);
  EXPECT_FALSE(receiver.urgent(kPeer));
  clock.time = microseconds(50);
  EXPECT_EQ(run_due(receiver, clock).acks, (std::vector<Peer>{kPeer}));
  EXPECT_EQ(receive(receiver, clock, 1), Verdict::in_order);
  EXPECT_EQ(receiver.take_ack(kPeer), 2u);
  clock.time = microseconds(200);
  EXPECT_TRUE(run_due(receiver, clock).acks.empty());
  for (std::uint32_t s = 2; s < 6; ++s) (void)receive(receiver, clock, s);
  EXPECT_TRUE(receiver.urgent(kPeer));
}

TEST(SelectiveRepeat, AStreamIsAcknowledgedLessOften) {
  TestClock clock;
  SelectiveRepeat::Options options = kOptions;
  options.ack_every_max = 16;
  SelectiveRepeat receiver(2, options);
  std::uint32_t next = 0;
  // Packets until an acknowledgment is due at once.
  const auto stream = [&] {
    const std::uint32_t begin = next;
    while (!receiver.urgent(kPeer)) (void)receive(receiver, clock, next++);
    EXPECT_EQ(receiver.take_ack(kPeer), next);
    return next - begin;
  };
  for (const std::uint32_t often : {4U, 8U, 16U, 16U}) EXPECT_EQ(stream(), often);
  // Expect: from the beginning after the delay, and after a gap, which is told of at once
  (void)receive(receiver, clock, next++);
  clock.time += microseconds(100);
  EXPECT_EQ(run_due(receiver, clock).acks.size(), 1u);
  for (const std::uint32_t often : {4U, 8U}) EXPECT_EQ(stream(), often);
  EXPECT_EQ(receive(receiver, clock, next + 1), Verdict::early);
  EXPECT_TRUE(receiver.urgent(kPeer));
  std::uint64_t words[1];
  EXPECT_EQ(receiver.take_early(kPeer, words), 1u);
  (void)receive(receiver, clock, next);
  EXPECT_EQ(take_all_kept(receiver, clock), (std::vector<std::uint32_t>{next + 1}));
  next += 2;
  (void)receiver.take_ack(kPeer);
  EXPECT_EQ(stream(), 4u);
}

TEST(SelectiveRepeat, TheWindowGrowsAndFollowsTheLossShare) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  std::uint32_t next = 0;
  for (int round = 0; round < 10; ++round) {
    while (sender.room(kPeer)) next = sender.number(clock, kPeer, 0) + 1;
    clock.time += microseconds(10);
    EXPECT_TRUE(acknowledge(sender, clock, next).ok);
  }
  EXPECT_EQ(sender.window(kPeer), kOptions.window_max);
  // One packet in 64 is lost each round: the window stays more than half open.
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t first = next;
    while (sender.room(kPeer)) next = sender.number(clock, kPeer, 0) + 1;
    clock.time += microseconds(10);
    std::uint64_t others =
        next - first >= 64 ? ~std::uint64_t{1} : ((std::uint64_t{1} << (next - first)) - 1) & ~1ull;
    EXPECT_EQ(acknowledge(sender, clock, first, {others}).again.size(), 1u);
    clock.time += microseconds(10);
    EXPECT_TRUE(acknowledge(sender, clock, next).ok);
  }
  EXPECT_GT(sender.window(kPeer), kOptions.window_max / 2);
  // Every second packet but for the last four is lost: it closes.
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t first = next;
    while (sender.room(kPeer)) next = sender.number(clock, kPeer, 0) + 1;
    clock.time += microseconds(10);
    const std::uint64_t sent =
        next - first >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (next - first)) - 1;
    EXPECT_TRUE(
        acknowledge(sender, clock, first, {sent & (0xaaaaaaaaaaaaaaaa | (sent ^ sent >> 4))}).ok);
    clock.time += microseconds(10);
    EXPECT_TRUE(acknowledge(sender, clock, next).ok);
  }
  EXPECT_LT(sender.window(kPeer), 12u);
}

TEST(SelectiveRepeat, AWindowThatIsNotUsedDoesNotGrow) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t next = sender.number(clock, kPeer, 0) + 1;
    clock.time += microseconds(10);
    EXPECT_TRUE(acknowledge(sender, clock, next).ok);
  }
  EXPECT_EQ(sender.window(kPeer), kOptions.window_first);
}

TEST(SelectiveRepeat, AWindowStopsDoublingWhenNoMoreComesThrough) {
  SelectiveRepeat::Options options = kOptions;
  options.window_max = 1024;
  // Rounds of a packet each microsecond, however many are under way, or of 10 us.
  const auto window_after = [&](bool limited, bool pauses) {
    TestClock clock;
    SelectiveRepeat sender(2, options);
    std::uint32_t next = 0;
    for (int round = 0; round < 9; ++round) {
      while (sender.room(kPeer)) next = sender.number(clock, kPeer, 0) + 1;
      clock.time += microseconds(limited ? sender.unacknowledged(kPeer) : 10);
      EXPECT_TRUE(acknowledge(sender, clock, pauses ? next : next - 1).ok);
      if (pauses) clock.time += microseconds(10'000);
    }
    return sender.window(kPeer);
  };
  EXPECT_LE(window_after(true, false), 128u);
  EXPECT_EQ(window_after(false, false), 1024u);
  // Expect: time in which there was nothing to send does not count
  EXPECT_EQ(window_after(false, true), 1024u);
}

TEST(SelectiveRepeat, WhatComesAfterAllNeedNotBeSentAgain) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 8);
  const std::uint64_t early[] = {0b11111100};
  const auto ignore = [](std::uint32_t) {};
  ASSERT_TRUE(sender.acknowledged(clock, kPeer, {0, early}, ignore));
  ASSERT_EQ(sender.lost(kPeer), 2u);
  // Expect: the first has come before it was its turn
  ASSERT_TRUE(sender.acknowledged(clock, kPeer, {1, {}}, ignore));
  ASSERT_EQ(sender.lost(kPeer), 1u);
  const auto [item, sequence] = sender.take_lost(clock, kPeer);
  EXPECT_EQ(item, 101u);
  EXPECT_EQ(sequence, 1u);
  EXPECT_EQ(sender.lost(kPeer), 0u);
}

TEST(SelectiveRepeat, TheIntervalFollowsWindowAndRoundTripAfterALoss) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 8);
  sender.measured(kPeer, microseconds(160));
  // Expect: no limit while nothing was lost
  EXPECT_EQ(sender.interval(kPeer), Ps{0});
  std::uint32_t next = 8;
  const auto round = [&](bool loss) {
    if (loss) {
      EXPECT_EQ(acknowledge(sender, clock, next - 8, {0b11111110}).again.size(), 1u);
    }
    clock.time += microseconds(16);
    EXPECT_TRUE(acknowledge(sender, clock, next).ok);
    send(sender, clock, 8);
    next += 8;
  };
  round(true);
  // Expect: 5/4 of the window each round trip
  const auto spread = [&](Ps round_trip) {
    return round_trip * 4 / (std::int64_t{sender.window(kPeer)} * 5);
  };
  EXPECT_EQ(sender.interval(kPeer), spread(microseconds(160)));
  // Expect: a peer that answered late is not believed to be far
  for (int i = 0; i < 20; ++i) sender.measured(kPeer, microseconds(16'000));
  sender.measured(kPeer, microseconds(16));
  EXPECT_EQ(sender.interval(kPeer), spread(microseconds(16)));
  // Expect: no limit any more when nothing was lost for long
  int rounds = 0;
  for (; sender.interval(kPeer) != Ps{0} && rounds < 1000; ++rounds) round(false);
  EXPECT_GE(rounds, 100);
  EXPECT_LT(rounds, 1000);
}

TEST(SelectiveRepeat, APeerThatWasSlowOnceCostsNoWindow) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  std::uint32_t next = 0;
  const auto round = [&] {
    while (sender.room(kPeer)) next = sender.number(clock, kPeer, 0) + 1;
  };
  const auto answer = [&] {
    clock.time += microseconds(10);
    EXPECT_TRUE(acknowledge(sender, clock, next).ok);
  };
  for (int i = 0; i < 8; ++i) round(), answer();
  const std::uint32_t before = sender.window(kPeer);
  // Nothing for longer than a timeout, then all of it; several times.
  for (int i = 0; i < 8; ++i) {
    round();
    clock.time += sender.timeout(kPeer);
    EXPECT_EQ(run_due(sender, clock).again.size(), 1u);
    answer();
  }
  EXPECT_GE(sender.window(kPeer), before);
  // Expect: two timeouts in a row do
  round();
  for (int i = 0; i < 2; ++i) {
    clock.time += sender.timeout(kPeer);
    EXPECT_EQ(run_due(sender, clock).again.size(), 1u);
  }
  EXPECT_LT(sender.window(kPeer), before);
}

TEST(SelectiveRepeat, APeerThatIsGoneLeavesNothing) {
  TestClock clock;
  SelectiveRepeat sender(2, kOptions);
  send(sender, clock, 4);
  (void)acknowledge(sender, clock, 1, {0b10});
  // What came of it, with a gap before.
  for (const std::uint32_t sequence : {2u, 5u}) {
    ASSERT_EQ(sender.arrived(clock, kPeer, sequence), Verdict::early);
    sender.keep(kPeer, sequence, 200 + sequence);
    EXPECT_FALSE(sender.wants(kPeer, sequence));
    EXPECT_TRUE(sender.wants(kPeer, sequence + 1));
  }
  std::vector<std::uint32_t> freed, dropped;
  sender.forget(
      kPeer, [&](std::uint32_t item) { freed.push_back(item); },
      [&](std::uint32_t item) { dropped.push_back(item); });
  EXPECT_EQ(freed, (std::vector<std::uint32_t>{101, 103}));
  EXPECT_EQ(dropped, (std::vector<std::uint32_t>{202, 205}));
  clock.time = microseconds(100'000);
  EXPECT_TRUE(run_due(sender, clock).again.empty());
}

TEST(SelectiveRepeat, AcknowledgmentsThatLieDoNoHarm) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng draw(seed);
    TestClock clock;
    SelectiveRepeat::Options options = kOptions;
    options.first = UINT32_MAX - 300;
    SelectiveRepeat sender(2, options);
    std::vector<bool> out;  // by item: sent and not freed
    const auto freed = [&](std::uint32_t item) {
      ASSERT_TRUE(out.at(item));
      out[item] = false;
    };
    std::uint32_t next = options.first;
    for (int step = 0; step < 5000; ++step) {
      clock.time += microseconds(1) * static_cast<std::int64_t>(draw.below(40));
      for (std::uint64_t n = draw.below(8); n > 0 && sender.room(kPeer); --n) {
        out.push_back(true);
        next = sender.number(clock, kPeer, static_cast<std::uint32_t>(out.size() - 1)) + 1;
      }
      // Mostly about what is out, now and then about anything.
      const std::uint32_t base = next - sender.unacknowledged(kPeer);
      const auto at = draw.below(20) == 0 ? static_cast<std::uint32_t>(draw.next())
                                          : base + static_cast<std::uint32_t>(draw.below(6)) - 1;
      const std::uint64_t early[] = {draw.next() & draw.next() & draw.next()};
      const bool some = draw.below(2) == 0;
      const auto before = sender.unacknowledged(kPeer);
      if (!sender.acknowledged(clock, kPeer, {at, std::span(early).first(some ? 1 : 0)}, freed)) {
        EXPECT_EQ(sender.unacknowledged(kPeer), before);
      }
      sender.measured(kPeer, Ps{static_cast<std::int64_t>(draw.below(1'000'000'000))});
      ASSERT_LE(sender.lost(kPeer), sender.unacknowledged(kPeer));
      EXPECT_GE(sender.interval(kPeer), Ps{0});
      for (std::uint64_t n = draw.below(4); n > 0 && sender.lost(kPeer) > 0; --n) {
        const auto [item, sequence] = sender.take_lost(clock, kPeer);
        EXPECT_TRUE(out.at(item));
        EXPECT_LT(sequence - base, 1000u);
      }
      for (const auto& [item, sequence] : run_due(sender, clock).again) EXPECT_TRUE(out.at(item));
    }
    EXPECT_LE(sender.window(kPeer), options.window_max);
  }
}

}  // namespace
}  // namespace fairlead::proto
