// Elanlib on the modelled QsNet: what its paper measured, in virtual time, and that a run repeats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/elan/elan.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr int kRounds = 20;

run::WorldOptions on_qsnet(unsigned ranks, const std::string& lci = "") {
  run::WorldOptions options = options_of("qsnet-es40", ranks);
  options.lci = lci;
  return options;
}

// What rank 0 measures, in us.
double measure(const run::WorldOptions& options, const std::function<double(ELAN_BASE*)>& body,
               run::RunReport* told = nullptr) {
  double found = 0;
  const Result<run::RunReport> report = run::run_world(options, [&](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    const double us = body(base);
    if (rank.port().self() == 0) found = us;
    elan_fini();
    return 0;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  if (!report.ok()) return 0;
  EXPECT_EQ(report.value().failure, "");
  if (told != nullptr) *told = report.value();
  return found;
}

double us_since(ELAN_BASE* base, std::uint64_t from) {
  return static_cast<double>(elan_clock(base->state) - from) / 1e3;
}

// The mean time of a barrier.
double barrier(unsigned nodes, void (*sync)(ELAN_GROUP*), const std::string& lci = "") {
  return measure(on_qsnet(nodes, lci), [sync](ELAN_BASE* base) {
    sync(base->allGroup);
    const std::uint64_t from = elan_clock(base->state);
    for (int i = 0; i < kRounds; ++i) sync(base->allGroup);
    return us_since(base, from) / kRounds;
  });
}

// The mean time of a put's way, from its posting to a processor that polls there.
double put(std::size_t bytes) {
  return measure(on_qsnet(64), [bytes](ELAN_BASE* base) {
    auto* const memory =
        static_cast<std::byte*>(elan_gallocElan(base, base->allGroup, 64, 2 * (bytes + 64)));
    elan_gsync(base->allGroup);
    const unsigned self = base->state->vp;
    double us = 0;
    if (self == 0 || self == 63) {
      const auto send = [&] {
        elan_wait(elan_putEvent(base->state, memory + bytes + 64, memory, bytes, 63 - self, 1),
                  base->waitType);
      };
      std::uint64_t from = 0;
      for (std::uint64_t i = 1; i <= kRounds + 1; ++i) {
        if (i == 2) from = elan_clock(base->state);
        if (self == 0) send();
        elan_waitDest(base->state, 1, i);
        if (self != 0) send();
      }
      us = us_since(base, from) / (2 * kRounds);
    }
    elan_gsync(base->allGroup);
    return us;
  });
}

// Mbyte/s of one long put.
double bandwidth(bool elan_memory) {
  constexpr std::size_t kBytes = 1 << 20;
  return measure(on_qsnet(16), [elan_memory](ELAN_BASE* base) {
    const auto get = elan_memory ? elan_gallocElan : elan_gallocMain;
    auto* const memory = static_cast<std::byte*>(get(base, base->allGroup, 64, 2 * kBytes));
    elan_gsync(base->allGroup);
    double rate = 0;
    if (base->state->vp == 0) {
      elan_wait(elan_put(base->state, memory, memory + kBytes, 64, 15), ELAN_POLL_EVENT);
      const std::uint64_t from = elan_clock(base->state);
      elan_wait(elan_put(base->state, memory, memory + kBytes, kBytes, 15), ELAN_POLL_EVENT);
      rate = kBytes / us_since(base, from);
    }
    elan_gsync(base->allGroup);
    return rate;
  });
}

// `ours` is what this model gave when the test was written: who changes it, changes docs/
// reproduction.md too, which has the paper's values and the errors.
void expect_ours(double value, double ours, const char* what) {
  EXPECT_NEAR(value, ours, ours * 0.005) << what << ": " << value;
}

TEST(Qsnet, AnHgsyncHardlyGrowsWithTheNodes) {
  const double all = barrier(64, elan_hgsync);
  const double event = barrier(64, elan_hgsyncEvent);
  expect_ours(barrier(4, elan_hgsync), 4.44, "hgsync, 4 nodes");
  expect_ours(barrier(8, elan_hgsync), 4.755, "hgsync, 8 nodes");
  expect_ours(all, 5.34, "hgsync, 64 nodes");
  expect_ours(event, 7.358, "hgsyncEvent, 64 nodes");
  // Expect: the event's notice comes on top (Quadrics paper, section 6.2.1)
  EXPECT_GT(event, all);
}

TEST(Qsnet, AGsyncGrowsWithTheTree) {
  const double all = barrier(64, elan_gsync);
  expect_ours(barrier(4, elan_gsync), 4.936, "gsync, 4 nodes");
  expect_ours(barrier(16, elan_gsync), 8.597, "gsync, 16 nodes");
  expect_ours(all, 12.65, "gsync, 64 nodes");
  // Expect: the network's barrier below the software's (section 6.2.1), and above both of them
  // trees of packets between hosts
  EXPECT_LT(barrier(64, elan_hgsync), all);
  EXPECT_GT(barrier(64, elan_gsync, "elan-host"), all);
  EXPECT_GT(barrier(64, elan_hgsync, "elan-host"), all);
  expect_ours(barrier(64, elan_gsync, "elan-tree"), 19.8, "gsync by chains, 64 nodes");
}

TEST(Qsnet, APutTakesItsSteps) {
  expect_ours(put(0), 2.205, "put, 0 bytes");
  expect_ours(put(64), 2.365, "put, 64 bytes");
}

TEST(Qsnet, LongPutsGoAtTheirBottlenecksPace) {
  expect_ours(bandwidth(true), 338.4, "Elan to Elan");
  expect_ours(bandwidth(false), 203.1, "main to main");
}

// Long after the first one has asked for the last time: it is told.
TEST(Qsnet, WhoComesLateEndsABarrier) {
  constexpr unsigned kNodes = 6;
  constexpr double kRoundUs = 20000;
  for (void (*const sync)(ELAN_GROUP*) : {elan_hgsync, elan_hgsyncEvent}) {
    double left[kNodes] = {};
    double longest = 0;
    (void)measure(on_qsnet(kNodes), [&](ELAN_BASE* base) {
      const unsigned self = base->state->vp;
      lci::Port& port = run::current()->port();
      for (unsigned round = 0; round < 3; ++round) {
        // Expect: it ends a little after the last one has come, one or several of them late
        const double from = (round + 1) * kRoundUs;
        const double late = self > round ? 2500.0 * self : 0;
        const Ps comes = microseconds(static_cast<std::int64_t>(from + late));
        while (port.now() < comes) (void)port.wait({.deadline = comes});
        sync(base->allGroup);
        left[self] = to_us(port.now()) - from - 2500.0 * (kNodes - 1);
        EXPECT_GT(left[self], 0) << "process " << self << ", round " << round;
        longest = std::max(longest, left[self]);
      }
      return 0.0;
    });
    EXPECT_LT(longest, 20);
  }
}

TEST(Qsnet, ABarrierThatNobodyElseComesToIsADeadlock) {
  const auto failure_of = [](void (*sync)(ELAN_GROUP*)) {
    const Result<run::RunReport> report = run::run_world(on_qsnet(5), [&](run::Context&) {
      ELAN_BASE* const base = elan_baseInit(0);
      if (base->state->vp != 3) sync(base->allGroup);
      elan_fini();
      return 0;
    });
    return report.ok() ? report.value().failure : report.error().text;
  };
  expect_words(failure_of(elan_hgsync), {"deadlock", "5 of 5 ranks wait", "rank 0", "rank 4",
                                         "elan_hgsync: the end of a barrier", "rank 3"});
  expect_words(failure_of(elan_hgsyncEvent),
               {"deadlock", "rank 0", "elan_hgsyncEvent: the end of a barrier"});
}

TEST(Qsnet, RunsRepeat) {
  const auto digest = [](unsigned nodes) {
    run::RunReport told;
    (void)measure(
        on_qsnet(nodes),
        [](ELAN_BASE* base) {
          for (int i = 0; i < kRounds; ++i) elan_hgsync(base->allGroup);
          elan_gsync(base->allGroup);
          return 0.0;
        },
        &told);
    return told.digest;
  };
  EXPECT_EQ(digest(4), digest(4));
  EXPECT_EQ(digest(64), digest(64));
}

}  // namespace
}  // namespace fairlead::port_test
