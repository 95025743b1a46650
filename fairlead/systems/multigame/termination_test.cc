// FourCounter by hand-made interleavings: what is under way never hides from it.
#include "fairlead/systems/multigame/termination.h"

#include <gtest/gtest.h>

#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::multigame {
namespace {

using Act = FourCounter::Act;

// Rank 0 begins a wave; both of two ranks hear of it.
std::uint32_t probe_both(FourCounter& zero, FourCounter& one) {
  const FourCounter::Action action = zero.idle();
  EXPECT_EQ(action.act, Act::probe);
  zero.on_probe(action.wave);
  one.on_probe(action.wave);
  return action.wave;
}

TEST(FourCounter, one_rank_alone_ends_after_two_waves) {
  FourCounter alone(0, 1);
  alone.begin();
  FourCounter::Action action = alone.idle();
  // Expect: a first wave, a second one, the end.
  ASSERT_EQ(action.act, Act::probe);
  // Expect: nothing twice, although the rank has not heard of it itself yet.
  EXPECT_EQ(alone.idle().act, Act::none);
  alone.on_probe(action.wave);
  action = alone.idle();
  ASSERT_EQ(action.act, Act::probe);
  EXPECT_EQ(action.wave, 2u);
  alone.on_probe(action.wave);
  EXPECT_EQ(alone.idle().act, Act::over);
  EXPECT_EQ(alone.idle().act, Act::none);
}

TEST(FourCounter, a_rank_says_nothing_unless_it_is_asked) {
  FourCounter one(1, 2);
  one.begin();
  EXPECT_EQ(one.idle().act, Act::none);
  one.on_probe(1);
  EXPECT_EQ(one.idle().act, Act::report);
  // Expect: once a wave.
  EXPECT_EQ(one.idle().act, Act::none);
}

TEST(FourCounter, a_job_under_way_keeps_the_search_going) {
  FourCounter zero(0, 2);
  FourCounter one(1, 2);
  zero.begin();
  one.begin();
  zero.sent(1);
  for (std::uint32_t wave = 1; wave <= 3; ++wave) {
    if (wave == 1) probe_both(zero, one);
    const FourCounter::Action report = one.idle();
    ASSERT_EQ(report.act, Act::report);
    zero.on_report(report.wave, report.sums);
    const FourCounter::Action next = zero.idle();
    // Expect: one sent and none received, wave after wave.
    ASSERT_EQ(next.act, Act::probe) << wave;
    zero.on_probe(next.wave);
    one.on_probe(next.wave);
  }
  one.received(1);
  FourCounter::Action report = one.idle();
  zero.on_report(report.wave, report.sums);
  // Expect: sent = received now, but not so in the wave before.
  FourCounter::Action next = zero.idle();
  ASSERT_EQ(next.act, Act::probe);
  zero.on_probe(next.wave);
  one.on_probe(next.wave);
  report = one.idle();
  zero.on_report(report.wave, report.sums);
  EXPECT_EQ(zero.idle().act, Act::over);
}

TEST(FourCounter, a_job_that_passes_behind_the_wave_is_seen) {
  // The case that fools a count of one wave: rank 1 reports, is then sent a job by rank 2, and
  // sends one to rank 2 itself, all before rank 2 reports: sums are equal, and rank 1 is at work.
  FourCounter zero(0, 3);
  FourCounter one(1, 3);
  FourCounter two(2, 3);
  for (FourCounter* each : {&zero, &one, &two}) each->begin();
  FourCounter::Action wave = zero.idle();
  for (FourCounter* each : {&zero, &one, &two}) each->on_probe(wave.wave);
  FourCounter::Action report = one.idle();
  EXPECT_EQ(report.sums, (Sums{0, 0}));
  zero.on_report(report.wave, report.sums);
  two.sent(1);
  one.received(1);
  one.sent(1);
  two.received(1);
  report = two.idle();
  EXPECT_EQ(report.sums, (Sums{1, 1}));
  zero.on_report(report.wave, report.sums);
  // Expect: a second wave, which finds more sent than this one found received.
  wave = zero.idle();
  ASSERT_EQ(wave.act, Act::probe);
  for (FourCounter* each : {&zero, &one, &two}) each->on_probe(wave.wave);
  for (FourCounter* each : {&two, &one}) {
    report = each->idle();
    zero.on_report(report.wave, report.sums);
  }
  wave = zero.idle();
  ASSERT_EQ(wave.act, Act::probe);
  for (FourCounter* each : {&zero, &one, &two}) each->on_probe(wave.wave);
  for (FourCounter* each : {&one, &two}) {
    report = each->idle();
    zero.on_report(report.wave, report.sums);
  }
  EXPECT_EQ(zero.idle().act, Act::over);
}

TEST(FourCounter, a_report_may_come_before_the_probe_and_over_the_end_of_a_search) {
  // Rank 1's child, rank 3 of four, hears of the wave before rank 1 does.
  FourCounter one(1, 4);
  one.begin();
  one.on_report(1, {5, 2});
  EXPECT_EQ(one.idle().act, Act::none);
  one.on_probe(1);
  FourCounter::Action report = one.idle();
  ASSERT_EQ(report.act, Act::report);
  EXPECT_EQ(report.sums, (Sums{5, 2}));
  // The next search: the child is in it, this rank is not yet.
  one.sent(7);
  one.on_report(2, {1, 1});
  one.begin();
  one.on_probe(2);
  report = one.idle();
  // Expect: what the child said, and nothing of the search before.
  EXPECT_EQ(report.sums, (Sums{1, 1}));
}

TEST(FourCounter, a_search_begins_anew) {
  FourCounter alone(0, 1);
  for (int search = 0; search < 3; ++search) {
    alone.begin();
    int waves = 0;
    FourCounter::Action action;
    while ((action = alone.idle()).act == Act::probe) {
      alone.on_probe(action.wave);
      ++waves;
    }
    // Expect: two waves each time, although the last one of the search before found the same.
    EXPECT_EQ(action.act, Act::over);
    EXPECT_EQ(waves, 2);
  }
}

// Any interleaving: ranks with jobs to do that make more jobs, messages delivered in any order. The
// end must come, and not while a job lives.
TEST(FourCounter, random_interleavings_end_when_and_only_when_nothing_lives) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Prng prng(seed);
    const auto ranks = static_cast<Rank>(1 + prng.below(9));
    struct Message {
      enum { job, probe, report } kind;
      Rank to;
      std::uint32_t wave;
      Sums sums;
    };
    std::vector<FourCounter> counters;
    std::vector<std::uint64_t> waiting(ranks);  // jobs
    std::vector<Message> under_way;
    for (Rank rank = 0; rank < ranks; ++rank) counters.emplace_back(rank, ranks);
    for (FourCounter& each : counters) each.begin();
    waiting[prng.below(ranks)] = 1;
    std::uint64_t to_make = prng.below(200);
    bool over = false;
    for (int step = 0; !over; ++step) {
      ASSERT_LT(step, 200'000) << seed;
      const auto rank = static_cast<Rank>(prng.below(ranks));
      if (!under_way.empty() && prng.chance(0.5)) {
        const std::size_t which = prng.below(under_way.size());
        const Message message = under_way[which];
        // Probes are in order: one at a time is under way to a rank.
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
        FourCounter& at = counters[message.to];
        if (message.kind == Message::job) {
          at.received(1);
          ++waiting[message.to];
        } else if (message.kind == Message::probe) {
          at.on_probe(message.wave);
        } else {
          at.on_report(message.wave, message.sums);
        }
      } else if (waiting[rank] > 0) {
        --waiting[rank];
        for (int child = 0; child < 2 && to_make > 0; ++child, --to_make) {
          const auto to = static_cast<Rank>(prng.below(ranks));
          if (to == rank) {
            ++waiting[rank];
          } else {
            counters[rank].sent(1);
            under_way.push_back({Message::job, to, 0, {}});
          }
        }
      } else {
        const FourCounter::Action action = counters[rank].idle();
        if (action.act == Act::probe) {
          for (Rank to = 0; to < ranks; ++to) {
            under_way.push_back({Message::probe, to, action.wave, {}});
          }
        } else if (action.act == Act::report) {
          under_way.push_back({Message::report, counters[rank].parent(), action.wave, action.sums});
        } else if (action.act == Act::over) {
          over = true;
        }
      }
    }
    // Expect: no job waits, none is under way.
    EXPECT_TRUE(under_way.empty()) << seed;
    for (const std::uint64_t jobs : waiting) EXPECT_EQ(jobs, 0u) << seed;
    EXPECT_EQ(to_make, 0u) << seed;
  }
}

}  // namespace
}  // namespace fairlead::multigame
