// The critical path of a modelled run: complete, without effect on the run, and confirmed by runs
// on machines with a resource twice as fast.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/golden/bodies.h"

namespace fairlead::golden {
namespace {

run::RunReport report_of(const run::WorldOptions& options, const run::Body& body) {
  const auto report = run::run_world(options, body);
  EXPECT_TRUE(report.ok()) << report.error().text;
  if (!report.ok()) return {};
  EXPECT_EQ(report.value().failure, "");
  return report.value();
}

Ps sum(const run::RunReport& report) {
  Ps total{};
  for (const run::PathShare& share : report.critical_path) total += share.time;
  return total;
}

TEST(CriticalPathOfModel, IsTheWholeRunAndChangesNothing) {
  const run::Body bodies[] = {[](run::Context& rank) { return all_to_all(rank, 20); },
                              [](run::Context& rank) { return ping_pong(rank, 2000, 50); }};
  for (const char* on : {"myrinet-ppro", "myrinet-p3"}) {
    for (const char* lci : {"sdma", "pio"}) {
      for (std::uint32_t ranks : {2u, 9u}) {
        run::WorldOptions options = modelled(on, lci, ranks);
        const run::Body& body = bodies[ranks == 2 ? 1 : 0];
        const run::RunReport plain = report_of(options, body);
        EXPECT_TRUE(plain.critical_path.empty());
        options.explain = true;
        const run::RunReport explained = report_of(options, body);
        // Expect: the same events
        EXPECT_EQ(explained.digest, plain.digest);
        EXPECT_EQ(explained.events, plain.events);
        // Expect: every picosecond of the run in one class
        EXPECT_EQ(sum(explained), plain.virtual_time) << on << " " << lci << " " << ranks;
        for (const run::PathShare& share : explained.critical_path) {
          EXPECT_GE(share.time.count, 0) << share.resource;
        }
      }
    }
  }
}

TEST(CriticalPathOfModel, NamesWhatARoundTripIsMadeOf) {
  run::WorldOptions options = modelled("myrinet-ppro", "pio", 2);
  options.explain = true;
  const run::RunReport report =
      report_of(options, [](run::Context& rank) { return ping_pong(rank, 16, 10); });
  std::map<std::string, Ps> share;
  for (const run::PathShare& one : report.critical_path) share[one.resource] = one.time;
  // Expect: of each of 20 messages one delivery by DMA (2.1 us) and its full flag seen (1.2 us)
  EXPECT_EQ(share["dma"], nanoseconds(20 * 2100));
  EXPECT_EQ(share["visibility"], nanoseconds(20 * 1200));
  // Expect: a send step and a receive step (684 cycles of 200 MHz), and the wait's clock checks
  EXPECT_GE(share["host"], nanoseconds(20 * 3420));
  EXPECT_LE(share["host"], nanoseconds(20 * 3420 + 1000));
  // Expect: 42 bytes at 160 MB/s, 0.24 us of staging and a switch's 0.1 us
  EXPECT_GE(share["link"], nanoseconds(20 * 600));
  EXPECT_LE(share["link"], nanoseconds(20 * 850));
  EXPECT_EQ(share["timer"], Ps{0});
}

// A host that keeps retransmission timers, and is woken by them while it computes, still computes.
TEST(CriticalPathOfModel, ComputingIsTheHostsWhateverWakesIt) {
  for (const char* lci : {"pio", "nirx", "hrx"}) {
    run::WorldOptions options = modelled("myrinet-p3", lci, 2);
    options.explain = true;
    const run::RunReport report = report_of(options, [](run::Context& rank) {
      const int failed = ping_pong(rank, 16, 10);
      rank.port().charge({.ops = 50'000'000});
      return failed;
    });
    std::map<std::string, Ps> share;
    for (const run::PathShare& one : report.critical_path) share[one.resource] = one.time;
    EXPECT_EQ(sum(report), report.virtual_time);
    EXPECT_GE(share["host"] * 100, report.virtual_time * 95) << lci;
    EXPECT_LE(share["timer"] * 100, report.virtual_time) << lci;
  }
}

// A round trip is one chain: what half of a resource's time is worth, a faster machine must show.
TEST(CriticalPathOfModel, IsConfirmedByAFasterMachine) {
  const run::Body body = [](run::Context& rank) { return ping_pong(rank, 1000, 20); };
  for (const char* lci : {"sdma", "pio"}) {
    run::WorldOptions options = modelled("myrinet-ppro", lci, 2);
    options.explain = true;
    const run::RunReport report = report_of(options, body);
    options.explain = false;
    for (const run::PathShare& share : report.critical_path) {
      if (std::string(share.resource) == "timer") continue;
      options.faster = std::string(share.resource) + "=2";
      const run::RunReport faster = report_of(options, body);
      const double predicted = to_us(report.virtual_time - share.time / 2);
      // Expect: within 3 %: another chain may take over for a part of it
      EXPECT_NEAR(to_us(faster.virtual_time), predicted, predicted * 0.03)
          << lci << " " << share.resource;
      EXPECT_LE(faster.virtual_time, report.virtual_time) << lci << " " << share.resource;
    }
  }
}

TEST(CriticalPathOfModel, WhatCannotBeMadeFasterIsSaid) {
  for (const char* wrong : {"ni", "ni=0", "timer=2", "cpu=2", "ni=2x", "ni=1e9"}) {
    run::WorldOptions options = modelled("myrinet-p3", "sdma", 2);
    options.faster = wrong;
    const auto report = run::run_world(options, [](run::Context&) { return 0; });
    ASSERT_FALSE(report.ok()) << wrong;
    // Expect: what is known
    EXPECT_NE(report.error().text.find("host, bus, dma, ni, link, visibility"), std::string::npos);
  }
}

}  // namespace
}  // namespace fairlead::golden
