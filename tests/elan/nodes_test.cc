// Elanlib where nodes have several processes: collectives of all of them go in two levels, through
// the memory of each node and from leader to leader.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/run/launch/world.h"
#include "fairlead/systems/elan/elan.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

run::WorldOptions on_nodes(unsigned ranks, unsigned each, const std::string& on = "qsnet-es40",
                           const std::string& lci = "") {
  run::WorldOptions options = options_of(on, ranks);
  options.ranks_per_node = each;
  options.lci = lci;
  return options;
}

run::RunReport run_elan(const run::WorldOptions& options,
                        const std::function<bool(lci::Port&, ELAN_BASE*)>& body) {
  const Result<run::RunReport> report = run::run_world(options, [&](run::Context& rank) {
    ELAN_BASE* const base = elan_baseInit(0);
    const bool good = body(rank.port(), base);
    elan_fini();
    return good ? 0 : 1;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

void add(const void* in, void* inout, std::size_t count, void*) {
  const auto* const a = static_cast<const std::uint64_t*>(in);
  auto* const b = static_cast<std::uint64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i) b[i] += a[i];
}

// Everybody draws the same calls from `seed`; what they leave is known from it. Who comes late is
// another one each time.
bool random_calls(lci::Port& port, ELAN_BASE* base, std::uint64_t seed, int calls) {
  constexpr std::size_t kPart = 64 * 1024;
  constexpr std::size_t kSizes[] = {0,     1,         8,         1000,      kPart - 1,
                                    kPart, kPart + 1, 2 * kPart, 3 * kPart, 3 * kPart + 5};
  constexpr std::size_t kMost = 3 * kPart + 5;
  const unsigned n = base->state->nvp;
  const unsigned self = base->state->vp;
  Prng draw(seed);
  ELAN_GROUP* const all = base->allGroup;
  auto* const global = static_cast<std::uint8_t*>(elan_gallocMain(base, all, 64, kMost));
  auto* const came = static_cast<std::uint64_t*>(elan_gallocMain(base, all, 64, n * 8));
  std::vector<std::uint8_t> local(kMost + 1);
  bool good = true;
  for (int i = 1; i <= calls; ++i) {
    const std::uint64_t what = draw.below(8);
    const auto root = static_cast<unsigned>(draw.below(n));
    const std::size_t size = kSizes[draw.below(std::size(kSizes))];
    const bool late = draw.below(n) == self;
    const auto value = static_cast<std::uint8_t>(draw.below(256));
    if (late) port.charge({.ops = 30'000});
    if (what < 3) {
      // Expect: who leaves a barrier sees that all have come to it
      const auto number = static_cast<std::uint64_t>(i);
      for (unsigned vp = 0; vp < n; ++vp) {
        elan_wait(elan_put(base->state, &number, came + self, 8, vp), ELAN_POLL_EVENT);
      }
      void (*const barriers[])(ELAN_GROUP*) = {elan_gsync, elan_hgsync, elan_hgsyncEvent};
      barriers[what](all);
      for (unsigned vp = 0; vp < n; ++vp) {
        const std::uint64_t seen = reinterpret_cast<std::atomic<std::uint64_t>*>(came)[vp].load();
        good &= PORT_TEST_CHECK(seen >= number, port, seen);
      }
    } else if (what < 7) {
      // Expect: every byte is the root's, and those behind them nobody's
      const bool is_global = (what & 1) != 0;
      std::uint8_t* const data = is_global ? global : local.data();
      std::fill_n(data, size, self == root ? value : static_cast<std::uint8_t>(value + 1));
      local[size] = 0xa5;
      (what < 5 ? elan_bcast : elan_hbcast)(all, data, size, root,
                                            is_global ? ELAN_BCAST_GLOBAL : ELAN_BCAST_SYSTEM);
      good &= PORT_TEST_CHECK(
          std::count(data, data + size, value) == static_cast<std::ptrdiff_t>(size), port, i);
      if (!is_global) good &= PORT_TEST_CHECK(local[size] == 0xa5, port, i);
    } else {
      // Expect: sums, at all or at the first one
      const std::size_t count = size / 8 + 1;
      const std::vector<std::uint64_t> in(count, self + value);
      std::vector<std::uint64_t> out(count, 0);
      const bool to_all = (value & 1) != 0;
      elan_reduce(all, in.data(), out.data(), 8, count, add, nullptr,
                  ELAN_REDUCE_COMMUTE | (to_all ? ELAN_RESULT_ALL : 0U));
      const std::uint64_t sum = std::uint64_t{n} * (n - 1) / 2 + std::uint64_t{n} * value;
      if (to_all || self == 0) {
        good &= PORT_TEST_CHECK(out == std::vector<std::uint64_t>(count, sum), port, i);
      }
    }
  }
  elan_gsync(all);
  return good;
}

struct Placed {
  unsigned ranks;
  unsigned each;
};
constexpr Placed kPlacements[] = {{8, 2}, {10, 4}, {7, 3}, {4, 4}, {9, 8}, {5, 1}};

TEST(ElanNodes, WhateverIsCalledIsRight) {
  for (const char* const on : {"qsnet-es40", "generic-hca", "infiniband-ndr"}) {
    for (const Placed& placed : kPlacements) {
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const run::RunReport report = run_elan(
            on_nodes(placed.ranks, placed.each, on), [&](lci::Port& port, ELAN_BASE* base) {
              return random_calls(port, base, seed * 100 + placed.ranks, 40);
            });
        EXPECT_EQ(report.exit_code, 0) << on << ", " << placed.ranks << " on nodes of "
                                       << placed.each << ", seed " << seed << report.failure;
      }
    }
  }
}

TEST(ElanNodes, WhoeverCombinesItIsRight) {
  for (const char* const lci : {"elan-tree", "elan-host"}) {
    const run::RunReport report =
        run_elan(on_nodes(10, 4, "qsnet-es40", lci),
                 [](lci::Port& port, ELAN_BASE* base) { return random_calls(port, base, 5, 60); });
    EXPECT_EQ(report.exit_code, 0) << lci << report.failure;
  }
}

// Processes of this machine, as if every three had a host of their own: packets between them.
TEST(ElanNodes, OfARealJobToo) {
  char path[] = "/tmp/fairlead-elan-nodes-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  close(file);
  run::WorldOptions options = on_nodes(7, 3, "shm");
  options.memory = std::string(path) + ",software";
  options.rank_memory_mib = 64;
  run::RunReport report = run_elan(
      options, [](lci::Port& port, ELAN_BASE* base) { return random_calls(port, base, 11, 30); });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
  // Expect: the others of a host send nothing for a barrier
  report = run_elan(options, [](lci::Port& port, ELAN_BASE* base) {
    elan_gsync(base->allGroup);
    const std::uint64_t before = port.counters().packets_sent;
    for (int i = 0; i < 20; ++i) elan_gsync(base->allGroup);
    const std::uint64_t sent = port.counters().packets_sent - before;
    return PORT_TEST_CHECK(sent == 0 || port.self() % 3 == 0, port, sent);
  });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
  unlink(path);
}

// Ranks that may allocate more than nodes share have memory of their own.
TEST(ElanNodes, WithMuchMemoryARankSharesNone) {
  run::WorldOptions options = on_nodes(6, 3);
  options.rank_memory_mib = 4096;
  const run::RunReport report = run_elan(options, [](lci::Port& port, ELAN_BASE* base) {
    const bool good = PORT_TEST_CHECK(
        port.allocate(1, std::size_t{3} << 30, lci::Place::host) != nullptr, port, 0);
    return random_calls(port, base, 2, 10) && good;
  });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
}

// Wires that break packets; a group of some processes of each node, in another order, beside.
TEST(ElanNodes, WhatBreaksOnTheWayIsDoneOnce) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    run::WorldOptions options = on_nodes(10, 4);
    options.faults = "drop=0.03,corrupt=0.02";
    options.seed = seed;
    const run::RunReport report = run_elan(options, [seed](lci::Port& port, ELAN_BASE* base) {
      bool good = random_calls(port, base, seed, 30);
      const unsigned some[] = {9, 1, 2, 5};
      ELAN_GROUP* const group = elan_groupMake(base->state, 3, 4, some);
      if (group != nullptr) {
        for (unsigned root = 0; root < 4; ++root) {
          std::vector<std::uint8_t> data(70'000, elan_groupSelf(group) == root ? 7 : 0);
          elan_hgsync(group);
          elan_hbcast(group, data.data(), data.size(), root, ELAN_BCAST_SYSTEM);
          good &= PORT_TEST_CHECK(std::count(data.begin(), data.end(), 7) == 70'000, port, root);
        }
        elan_groupFree(group);
      }
      elan_hgsync(base->allGroup);
      return good;
    });
    EXPECT_EQ(report.exit_code, 0) << "seed " << seed << ": " << report.failure;
    EXPECT_EQ(report.failure, "");
  }
}

TEST(ElanNodes, ADeadNodeIsToldOf) {
  for (const unsigned dead : {0U, 1U, 2U}) {
    run::WorldOptions options = on_nodes(10, 4);
    options.faults = "down=" + std::to_string(dead) + "@300us+1000s";
    const run::RunReport report = run_elan(
        options, [](lci::Port& port, ELAN_BASE* base) { return random_calls(port, base, 9, 60); });
    EXPECT_NE(report.exit_code, 0) << dead;
    expect_words(report.failure, {"lost"});
  }
}

TEST(ElanNodes, ABarrierThatOneNeverComesToIsADeadlock) {
  for (const unsigned missing : {0U, 1U, 4U, 7U}) {
    const run::RunReport report =
        run_elan(on_nodes(8, 4), [missing](lci::Port& port, ELAN_BASE* base) {
          if (port.self() != missing) {
            elan_hgsync(base->allGroup);
          } else {
            elan_waitDest(base->state, 1, 1);
          }
          return true;
        });
    expect_words(report.failure, {"deadlock", "8 of 8 ranks wait",
                                  "elan_hgsync: the others of its node", "in elan_waitDest"});
  }
}

void hgsync(ELAN_BASE* base) { elan_hgsync(base->allGroup); }
void gsync(ELAN_BASE* base) { elan_gsync(base->allGroup); }

double us_since(ELAN_BASE* base, std::uint64_t from) {
  return static_cast<double>(elan_clock(base->state) - from) / 1e3;
}

// The mean time of a call, in us, where hosts do nothing else.
double mean(unsigned nodes, unsigned each, const std::function<void(ELAN_BASE*)>& call,
            const std::string& on = "qsnet-es40") {
  constexpr int kRounds = 20;
  double found = 0;
  run::WorldOptions options = on_nodes(nodes * each, each, on);
  if (on == "qsnet-es40") options.set = {"noise.ticks_per_s=0", "noise.daemons_per_s=0"};
  const run::RunReport report = run_elan(options, [&](lci::Port& port, ELAN_BASE* base) {
    call(base);
    const std::uint64_t from = elan_clock(base->state);
    for (int i = 0; i < kRounds; ++i) call(base);
    const double us = us_since(base, from) / kRounds;
    if (port.self() == 0) found = us;
    return true;
  });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
  return found;
}

// What a node of four adds to the leaders' part: its leader finds three lines that others stored,
// 0.13 us each, and is woken at most as often, by looks of 0.15 us; the others then find one.
TEST(ElanNodes, SixteenNodesOfFourAreHardlySlowerThanSixteen) {
  const double kNode = 3 * (0.13 + 0.15) + 0.13 + 0.15;
  const auto broadcast = [](std::size_t size, unsigned root) {
    return [size, root](ELAN_BASE* base) {
      std::vector<std::uint8_t> data(size);
      elan_hbcast(base->allGroup, data.data(), size, root, ELAN_BCAST_SYSTEM);
    };
  };
  EXPECT_LT(mean(16, 4, hgsync), mean(16, 1, hgsync) + kNode);
  EXPECT_LT(mean(16, 4, gsync), mean(16, 1, gsync) + kNode);
  // Expect: of a broadcast beside that one more line to find and 8 bytes to copy, and where its
  // root does not lead its node, the same there before
  EXPECT_LT(mean(16, 4, broadcast(8, 0)), mean(16, 1, broadcast(8, 0)) + kNode + 0.5);
  EXPECT_LT(mean(16, 4, broadcast(8, 2)), mean(16, 1, broadcast(8, 2)) + kNode + 1.0);
  // Expect: long ones wait for a copy in the node, not for the wires once more
  constexpr std::size_t kLong = 1 << 20;
  EXPECT_LT(mean(16, 4, broadcast(kLong, 0)), 1.5 * mean(16, 1, broadcast(kLong, 0)));
}

TEST(ElanNodes, RunsRepeat) {
  const auto digest = [] {
    return run_elan(
               on_nodes(10, 4),
               [](lci::Port& port, ELAN_BASE* base) { return random_calls(port, base, 3, 20); })
        .digest;
  };
  EXPECT_EQ(digest(), digest());
}

}  // namespace
}  // namespace fairlead::port_test
