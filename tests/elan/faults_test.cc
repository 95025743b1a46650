// Elanlib on a QsNet whose wires break packets, acknowledgments and ends: everything is still done
// once, no barrier is left early or by some only, and a node that is gone is told of.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/elan/elan.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

run::RunReport run_faulty(const std::string& faults, std::uint64_t seed, unsigned ranks,
                          const std::function<bool(lci::Port&, ELAN_BASE*)>& body) {
  run::WorldOptions options = options_of("qsnet-es40", ranks);
  options.faults = faults;
  options.seed = seed;
  const Result<run::RunReport> report = run::run_world(options, [&](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    const bool good = body(rank.port(), base);
    elan_fini();
    return good ? 0 : 1;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

constexpr unsigned kRanks = 10;

// How far the ranks are, by rank: they are fibers of this process.
struct Progress {
  std::uint64_t came[kRanks] = {};
  bool all_have(std::uint64_t round) const {
    for (const std::uint64_t each : came) {
      if (each < round) return false;
    }
    return true;
  }
};

// Barriers of three kinds, broadcasts of two, puts, atomics and messages, over and over.
bool work(lci::Port& port, ELAN_BASE* base, Progress& progress) {
  constexpr std::uint64_t kRounds = 8;
  constexpr std::size_t kWords = 300;
  const unsigned self = base->state->vp;
  auto* const words =
      static_cast<std::uint64_t*>(elan_gallocMain(base, base->allGroup, 64, 3 * kWords * 8));
  std::uint64_t* const sum = words + 2 * kWords;
  ELAN_ATOMIC* const atomic = elan_atomicInit(base->state);
  ELAN_QUEUE* const queue = elan_gallocQueue(base, base->allGroup);
  ELAN_QUEUE_RX* const rx = elan_queueRxInit(base->state, queue, 16, 64);
  ELAN_QUEUE_TX* const tx = elan_queueTxInit(base->state, queue);
  bool good = true;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    void (*const barriers[])(ELAN_GROUP*) = {elan_gsync, elan_hgsync, elan_hgsyncEvent};
    progress.came[self] = 4 * round;
    barriers[round % 3](base->allGroup);
    // Expect: nobody left before all had come
    good &= PORT_TEST_CHECK(progress.all_have(4 * round), port, round);
    const unsigned root = static_cast<unsigned>(round % kRanks);
    for (std::size_t i = 0; self == root && i < kWords; ++i) words[i] = round * 1000 + i;
    elan_hbcast(base->allGroup, words, kWords * 8, root, ELAN_BCAST_GLOBAL);
    for (std::size_t i = 0; i < kWords; ++i) {
      good &= PORT_TEST_CHECK(words[i] == round * 1000 + i, port, i);
    }
    std::vector<std::uint64_t> mine(kWords, self == root ? round : 0);
    elan_bcast(base->allGroup, mine.data(), kWords * 8, root, ELAN_BCAST_SYSTEM);
    good &= PORT_TEST_CHECK(mine == std::vector<std::uint64_t>(kWords, round), port, round);
    // Expect: a put, a sum and a message are there once
    const unsigned next = (self + 1) % kRanks;
    elan_wait(elan_put(base->state, mine.data(), words + kWords, kWords * 8, next), base->waitType);
    elan_wait(elan_atomic64(atomic, ELAN_ATOMIC_ADD, sum, 1, 0, nullptr, 0), base->waitType);
    const std::uint64_t sent = round * 100 + self;
    elan_wait(elan_queueTx(tx, next, &sent, 8), base->waitType);
    unsigned from = kRanks;
    std::size_t size = 0;
    const auto* const got =
        static_cast<const std::uint64_t*>(elan_queueRxWait(rx, &size, &from, base->waitType));
    good &= PORT_TEST_CHECK(size == 8 && *got == round * 100 + from, port, *got);
    elan_queueRxComplete(rx);
    elan_gsync(base->allGroup);
    good &= PORT_TEST_CHECK(words[kWords + kWords - 1] == round, port, words[kWords]);
    if (self == 0) good &= PORT_TEST_CHECK(*sum == round * kRanks, port, *sum);
  }
  return good;
}

TEST(QsnetFaults, WhatBreaksIsSentAgainAndDoneOnce) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Progress progress;
    const std::string faults = seed % 2 == 0 ? "drop=0.03,corrupt=0.02" : "link=3:drop=0.05";
    const run::RunReport report =
        run_faulty(faults, seed, kRanks,
                   [&](lci::Port& port, ELAN_BASE* base) { return work(port, base, progress); });
    EXPECT_EQ(report.exit_code, 0) << faults << ", seed " << seed << ": " << report.failure;
    EXPECT_EQ(report.failure, "") << seed;
  }
}

// A cable that is out for a while is waited for.
TEST(QsnetFaults, AShortOutageIsOutlived) {
  Progress progress;
  const run::RunReport report =
      run_faulty("down=4@100us+3ms", 1, kRanks,
                 [&](lci::Port& port, ELAN_BASE* base) { return work(port, base, progress); });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
}

// A node that stays away ends the job, whatever it is missed in: a multicast, a query, a message.
TEST(QsnetFaults, ADeadNodeIsToldOfAndNoBarrierEnds) {
  for (const unsigned dead : {0U, 4U, 9U}) {
    for (const char* const since : {"100us", "173us", "251us"}) {
      Progress progress;
      const std::string faults = "down=" + std::to_string(dead) + "@" + since + "+1000s";
      const run::RunReport report =
          run_faulty(faults, 1, kRanks,
                     [&](lci::Port& port, ELAN_BASE* base) { return work(port, base, progress); });
      EXPECT_NE(report.exit_code, 0) << faults;
      EXPECT_NE(report.failure.find("lost"), std::string::npos) << faults << report.failure;
    }
  }
}

TEST(QsnetFaults, WhatCircuitsCannotDoIsRefused) {
  for (const char* const faults : {"dup=0.1", "delay=10us:0.1", "link=leaf0-spine1:drop=0.1"}) {
    run::WorldOptions options = options_of("qsnet-es40", 4);
    options.faults = faults;
    const Result<run::RunReport> report = run::run_world(options, [](run::Context&) { return 0; });
    ASSERT_FALSE(report.ok()) << faults;
    EXPECT_NE(report.error().text.find("valid: drop, corrupt"), std::string::npos)
        << report.error().text;
  }
}

}  // namespace
}  // namespace fairlead::port_test
