// The direct composition on a modelled RDMA interface: packets, puts, gets, atomics and waits in
// virtual time. What is measured here is guessed (platforms/generic-hca.toml); that it repeats and
// where it comes from is not.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/golden/bodies.h"
#include "tests/remote_memory_body.h"

namespace fairlead::golden {
namespace {

run::WorldOptions on_platform(const std::string& name, std::uint32_t ranks) {
  run::WorldOptions options;
  options.on = FAIRLEAD_PLATFORMS "/" + name + ".toml";
  options.ranks = ranks;
  options.fiber_stack_kib = 256;
  return options;
}
run::WorldOptions on_hca(std::uint32_t ranks) { return on_platform("generic-hca", ranks); }

run::RunReport run_on(const run::WorldOptions& options, const run::Body& body) {
  const auto report = run::run_world(options, body);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

std::string error_of(const run::WorldOptions& options) {
  const auto report = run::run_world(options, [](run::Context&) { return 0; });
  return report.ok() ? "ran" : report.error().text;
}

TEST(ModelRdma, RemoteMemoryIsRightAndRepeats) {
  const auto body = [](run::Context& rank) {
    return tests::RemoteMemoryBody(rank, 64 * 1024).run(200);
  };
  const run::RunReport first = run_on(on_hca(4), body);
  const run::RunReport second = run_on(on_hca(4), body);
  // Expect: what was put is what is got, by copies of the network; each run is the same run.
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_GT(first.counters.remote_copies, 200u);
  EXPECT_GT(first.events, 0u);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.virtual_time, second.virtual_time);
}

TEST(ModelRdma, PacketsAndAtomicsOfAllRanksMeet) {
  const auto body = [](run::Context& rank) { return all_to_all(rank, 40); };
  const run::RunReport first = run_on(on_hca(8), body);
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(first.digest, run_on(on_hca(8), body).digest);
  // Expect: the target's processor has no part in an atomic of another rank.
  EXPECT_EQ(first.counters.remote_atomics, 40u * 7);
}

TEST(ModelRdma, APingPongTakesWhatItsPartsTake) {
  constexpr int kRounds = 50;
  const auto time = [](std::size_t bytes, const char* faster) {
    run::WorldOptions options = on_hca(2);
    options.faster = faster;
    const run::RunReport report =
        run_on(options, [bytes](run::Context& rank) { return ping_pong(rank, bytes, kRounds); });
    EXPECT_EQ(report.failure, "");
    return to_us(report.virtual_time) / (2 * kRounds);
  };
  const double small = time(8, "");
  const double large = time(1500, "");
  // Expect: some microseconds; a packet that is fetched costs two reads of host memory more, of
  // 0.55 us each; and every part has its share.
  EXPECT_GT(small, 1.0);
  EXPECT_LT(small, 4.0);
  EXPECT_GT(large, small + 1.1 + 1.5);
  for (const char* faster : {"host=2", "bus=2", "ni=2", "link=2"}) {
    EXPECT_LT(time(8, faster), small) << faster;
  }
}

TEST(ModelRdma, TheCriticalPathIsTheWholeRun) {
  run::WorldOptions options = on_hca(2);
  options.explain = true;
  const auto body = [](run::Context& rank) { return ping_pong(rank, 1000, 10); };
  const run::RunReport report = run_on(options, body);
  Ps sum{};
  for (const run::PathShare& share : report.critical_path) sum += share.time;
  // Expect: the shares add up, and looking does not change the run.
  EXPECT_EQ(sum, report.virtual_time);
  EXPECT_EQ(report.digest, run_on(on_hca(2), body).digest);
}

TEST(ModelRdma, WhatDoesNotFitIsRefusedWithWhatDoes) {
  run::WorldOptions options = on_hca(2);
  options.lci = "nirx";
  EXPECT_NE(error_of(options).find("--lci nirx"), std::string::npos) << error_of(options);
  EXPECT_NE(error_of(options).find("valid: direct"), std::string::npos);
  options.lci = "direct";
  EXPECT_EQ(error_of(options), "ran");
  options.faults = "drop=0.1";
  options.set = {"ni.ack_timeout_us=0"};
  EXPECT_NE(error_of(options).find("--faults"), std::string::npos);
  options.faults.clear();
  options.set = {"ni.send_queue=4"};
  EXPECT_NE(error_of(options).find("ni.signal_every"), std::string::npos) << error_of(options);
}

TEST(ModelRdma, WhatLinksLoseIsSentAgain) {
  const auto body = [](run::Context& rank) {
    return tests::RemoteMemoryBody(rank, 64 * 1024).run(60);
  };
  for (const char* platform : {"generic-hca", "infiniband-pcix", "infiniband-pcie"}) {
    run::WorldOptions options = on_platform(platform, 4);
    const run::RunReport whole = run_on(options, body);
    options.faults = "drop=0.01,corrupt=0.005,dup=0.01,reorder=0.005";
    const run::RunReport first = run_on(options, body);
    // Expect: it does the same things, takes longer, and does so again.
    EXPECT_EQ(first.failure, "") << platform;
    EXPECT_EQ(first.exit_code, 0);
    EXPECT_GT(first.virtual_time, whole.virtual_time);
    EXPECT_EQ(first.digest, run_on(options, body).digest);
  }
}

TEST(ModelRdma, ADeadlockIsToldAndNotWaitedFor) {
  const run::RunReport report = run_on(on_hca(2), [](run::Context& rank) {
    Counter never;
    (void)rank.port().wait({.counter = &never, .at = 1, .what = "nothing"});
    return 0;
  });
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report.failure;
}

// --- InfiniBand, on a shared bus and on two lanes.

constexpr const char* kInfiniband[] = {"infiniband-pcix", "infiniband-pcie"};

TEST(ModelInfiniband, RemoteMemoryIsRightAndRepeats) {
  const auto body = [](run::Context& rank) {
    return tests::RemoteMemoryBody(rank, 64 * 1024).run(100);
  };
  std::uint64_t digests[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const run::RunReport first = run_on(on_platform(kInfiniband[i], 4), body);
    const run::RunReport second = run_on(on_platform(kInfiniband[i], 4), body);
    EXPECT_EQ(first.failure, "") << kInfiniband[i];
    EXPECT_EQ(first.exit_code, 0);
    EXPECT_GT(first.counters.remote_copies, 100u);
    EXPECT_EQ(first.digest, second.digest);
    digests[i] = first.digest;
  }
  // Expect: the bus is seen.
  EXPECT_NE(digests[0], digests[1]);
}

int await_word(lci::Port& port, const std::atomic<std::uint64_t>& word, std::uint64_t value) {
  const lci::Until until{.word = &word, .cmp = lci::Cmp::eq, .value = value, .what = "a word"};
  return port.wait(until) == Post::done ? 0 : 9;
}

// Each rank sets its own sixteen bits of a word of rank 0, one by one and twice.
int set_bits(run::Context& rank) {
  lci::Port& port = rank.port();
  Counter done;
  const auto* const word =
      static_cast<std::atomic<std::uint64_t>*>(port.allocate(kWord, 8, lci::Place::host));
  if (word == nullptr) return 1;
  std::uint64_t count = 0;
  const auto set = [&](std::uint64_t bit, std::uint64_t* old) {
    const Post answer = port.atomic({0, kWord, 0}, lci::Atomic::bit_or, bit, 0, old, &done);
    if (answer != Post::done && answer != Post::pending) return false;
    return port.wait({.counter = &done, .at = ++count, .what = "a bit"}) == Post::done;
  };
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (16 * port.self() + i);
    std::uint64_t old = 0;
    if (!set(bit, &old) || (old & bit) != 0) return 2;
    if (!set(bit, &old) || (old & bit) == 0) return 3;
  }
  return port.self() == 0 ? await_word(port, *word, ~std::uint64_t{0}) : 0;
}

TEST(ModelInfiniband, WhatItsVerbsLackIsDoneByCompareAndSwap) {
  for (const char* platform : kInfiniband) {
    const run::RunReport report = run_on(on_platform(platform, 4), set_bits);
    // Expect: no bit is lost, and each was set once and then found set.
    EXPECT_EQ(report.failure, "") << platform;
    EXPECT_EQ(report.exit_code, 0);
  }
}

TEST(ModelInfiniband, ALoopTakesLongerThanAnAdd) {
  const auto time = [](lci::Atomic op) {
    const auto body = [op](run::Context& rank) {
      lci::Port& port = rank.port();
      Counter done;
      const auto* const word =
          static_cast<std::atomic<std::uint64_t>*>(port.allocate(kWord, 8, lci::Place::host));
      if (word == nullptr) return 1;
      constexpr std::uint64_t kRounds = 20;  // what the sum of ones is, and 1 ^ 2 ^ .. ^ 20
      std::uint64_t old = 0;
      for (std::uint64_t i = 1; port.self() == 1 && i <= kRounds; ++i) {
        (void)port.atomic({0, kWord, 0}, op, op == lci::Atomic::add ? 1 : i, 0, &old, &done);
        (void)port.wait({.counter = &done, .at = i, .what = "an atomic operation"});
      }
      return port.self() == 0 ? await_word(port, *word, kRounds) : 0;
    };
    const run::RunReport report = run_on(on_platform("infiniband-pcie", 2), body);
    EXPECT_EQ(report.failure, "");
    EXPECT_EQ(report.exit_code, 0);
    return report.virtual_time;
  };
  const Ps add = time(lci::Atomic::add);
  const Ps exclusive_or = time(lci::Atomic::bit_xor);
  // Expect: one round where the word is 0, which it is before a fourth of them, else two.
  EXPECT_GT(exclusive_or, add + add / 2);
  EXPECT_LT(exclusive_or, add * 2);
}

// Ranks count in one word of rank 0, which takes part: with its adapter on InfiniBand, whose
// atomics are not atomic with the processor's, and with its processor elsewhere.
TEST(ModelInfiniband, ARanksOwnAtomicsPassItsAdapter) {
  constexpr std::uint64_t kRounds = 20;
  const auto by_fabric = [](const char* platform) {
    const auto body = [](run::Context& rank) {
      lci::Port& port = rank.port();
      Counter done;
      const auto* const word =
          static_cast<std::atomic<std::uint64_t>*>(port.allocate(kWord, 8, lci::Place::host));
      if (word == nullptr) return 1;
      for (std::uint64_t i = 1; i <= kRounds; ++i) {
        (void)port.atomic({0, kWord, 0}, lci::Atomic::add, 1, 0, nullptr, &done);
        if (port.wait({.counter = &done, .at = i, .what = "an add"}) != Post::done) return 2;
      }
      if (port.self() != 0) return 0;
      return await_word(port, *word, 2 * kRounds);
    };
    const run::RunReport report = run_on(on_platform(platform, 2), body);
    EXPECT_EQ(report.failure, "") << platform;
    EXPECT_EQ(report.exit_code, 0);
    return report.counters.remote_atomics;
  };
  EXPECT_EQ(by_fabric("generic-hca"), kRounds);
  for (const char* platform : kInfiniband) EXPECT_EQ(by_fabric(platform), 2 * kRounds) << platform;
}

}  // namespace
}  // namespace fairlead::golden
