// Elanlib on the modelled QsNet: what its paper measured, in virtual time, and that a run repeats.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/world.h"
#include "fairlead/systems/elan/elan.h"
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
double measure(const run::WorldOptions& options,
               const std::function<double(lci::Port&, ELAN_BASE*)>& body,
               run::RunReport* told = nullptr) {
  double found = 0;
  const Result<run::RunReport> report = run::run_world(options, [&](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    const double us = body(rank.port(), base);
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

double us_of(lci::Port& port, Ps from) { return to_us(port.now() - from); }

// The mean time of a barrier.
double barrier(unsigned nodes, void (*sync)(ELAN_GROUP*), const std::string& lci = "") {
  return measure(on_qsnet(nodes, lci), [sync](lci::Port& port, ELAN_BASE* base) {
    sync(base->allGroup);
    const Ps from = port.now();
    for (int i = 0; i < kRounds; ++i) sync(base->allGroup);
    return us_of(port, from) / kRounds;
  });
}

// A put's way from its posting to a processor that polls there: half a round.
double put(std::size_t bytes, bool elan_memory) {
  return measure(on_qsnet(64), [&](lci::Port& port, ELAN_BASE* base) {
    const auto get = elan_memory ? elan_gallocElan : elan_gallocMain;
    auto* const memory =
        static_cast<std::byte*>(get(base, base->allGroup, 64, 2 * (bytes + 64)));
    auto* const word = static_cast<std::uint64_t*>(
        elan_gallocMain(base, base->allGroup, 64, 2 * sizeof(std::uint64_t)));
    word[0] = 0;
    elan_gsync(base->allGroup);
    const unsigned self = base->state->vp;
    if (self != 0 && self != 63) {
      elan_gsync(base->allGroup);
      return 0.0;
    }
    Counter came;
    constexpr lci::CtrId kCame = 3;
    port.expose_counter(kCame, &came);
    elan_waitWord(base->state, word, 0);
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;
    (void)elan_locate(base->state, memory, 1, &segment, &offset);
    const Rank peer = 63 - self;
    const auto send = [&] {
      const lci::PutPiece piece{offset, memory + bytes + 64, bytes};
      Counter done;
      (void)port.put({peer}, segment, {&piece, bytes > 0 ? 1u : 0u}, &done, kCame, lci::kNoFlags);
      return port.wait({.counter = &done, .at = 1, .what = "a put"}) == Post::done;
    };
    Ps from{};
    bool good = true;
    for (std::uint64_t i = 1; i <= kRounds + 1; ++i) {
      if (i == 2) from = port.now();
      if (self == 0) good = send() && good;
      good = port.wait({.counter = &came, .at = i, .what = "the other's"}) == Post::done && good;
      if (self != 0) good = send() && good;
    }
    const double us = us_of(port, from) / (2 * kRounds);
    elan_gsync(base->allGroup);
    return good ? us : 0;
  });
}

// Mbyte/s of one long put.
double bandwidth(bool elan_memory) {
  constexpr std::size_t kBytes = 1 << 20;
  return measure(on_qsnet(16), [&](lci::Port& port, ELAN_BASE* base) {
    const auto get = elan_memory ? elan_gallocElan : elan_gallocMain;
    auto* const memory = static_cast<std::byte*>(get(base, base->allGroup, 64, 2 * kBytes));
    elan_gsync(base->allGroup);
    double rate = 0;
    if (base->state->vp == 0) {
      elan_wait(elan_put(base->state, memory, memory + kBytes, 64, 15), ELAN_POLL_EVENT);
      const Ps from = port.now();
      elan_wait(elan_put(base->state, memory, memory + kBytes, kBytes, 15), ELAN_POLL_EVENT);
      rate = kBytes / us_of(port, from);
    }
    elan_gsync(base->allGroup);
    return rate;
  });
}

void expect_within(double value, double wanted, double share, const char* what) {
  std::printf("%s: %.2f (%.2f)\n", what, value, wanted);
  EXPECT_LE(std::abs(value - wanted), wanted * share) << what << ": " << value;
}

TEST(Qsnet, AnHgsyncTakesWhatThePaperMeasured) {
  // Expect: 5 us below 16 nodes (Quadrics paper, section 6.2.1)
  expect_within(barrier(4, elan_hgsync), 5.0, 0.05, "hgsync, 4 nodes");
  expect_within(barrier(8, elan_hgsync), 5.0, 0.05, "hgsync, 8 nodes");
  const double all = barrier(64, elan_hgsync);
  std::printf("hgsync, 64 nodes: %.2f; event %.2f\n", all, barrier(64, elan_hgsyncEvent));
  // Expect: the event's notice comes on top
  EXPECT_GT(barrier(64, elan_hgsyncEvent), all);
}

TEST(Qsnet, AGsyncGrowsWithTheTree) {
  const double four = barrier(4, elan_gsync);
  const double sixteen = barrier(16, elan_gsync);
  const double all = barrier(64, elan_gsync);
  std::printf("gsync: %.2f %.2f %.2f\n", four, sixteen, all);
  // The paper has 14.8 us; the model is a fifth below it (docs/reproduction.md).
  EXPECT_GT(all, sixteen);
  expect_within((all - four) / 2, 2.5, 0.10, "gsync, each time the nodes are four times as many");
  // Expect: below the software barrier, above hosts' trees of packets
  EXPECT_LT(barrier(64, elan_hgsync), all);
  EXPECT_GT(barrier(64, elan_gsync, "elan-host"), all);
}

TEST(Qsnet, APutTakesWhatThePaperMeasured) {
  // The model is 6 and 7 % below the paper (docs/reproduction.md).
  expect_within(put(0, true), 2.2, 0.10, "put, 0 bytes");
  expect_within(put(64, true), 2.4, 0.10, "put, 64 bytes");
  std::printf("put from and to main memory: 8 bytes %.2f, 64 bytes %.2f\n", put(8, false),
              put(64, false));
}

TEST(Qsnet, LongPutsGoAtTheirBottlenecksPace) {
  expect_within(bandwidth(true), 335, 0.05, "Elan to Elan");
  expect_within(bandwidth(false), 200, 0.05, "main to main");
}

TEST(Qsnet, RunsRepeat) {
  const auto digest = [](unsigned nodes) {
    run::RunReport told;
    (void)measure(
        on_qsnet(nodes),
        [](lci::Port&, ELAN_BASE* base) {
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
