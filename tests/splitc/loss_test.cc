// --splitc via-unreliable where packets are lost, doubled, reordered and corrupted: every byte is
// right, nothing is done twice, and the job ends. FAIRLEAD_SPLITC_OPERATIONS has another number of
// operations than the one that tests do (a million: run this alone).
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/via/loss.h"
#include "tests/splitc/splitc_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr std::uint32_t kWords = 64;                // of a rank in every other one's memory
constexpr std::uint32_t kBlock = 300;               // words of a block, more than a packet
constexpr std::uint32_t kAtOnce = 20;               // of puts, stores and gets
constexpr std::uint32_t kTurnOf = 3 * kAtOnce + 5;  // operations of a turn
constexpr std::uint64_t kJobOperations = 100'000;   // of one job, and one seed of the losses

using splitc::global_ptr;

std::uint64_t operations() {
  const char* const text = std::getenv("FAIRLEAD_SPLITC_OPERATIONS");
  return text == nullptr ? 9'000 : std::strtoull(text, nullptr, 10);
}

std::uint64_t add_one(std::uint64_t offset) {
  return ++*splitc::tolocal(global_ptr<std::uint64_t>(splitc::my_proc(), offset));
}

// What a rank has written to one other rank.
struct Written {
  std::vector<std::uint64_t> put = std::vector<std::uint64_t>(kWords);
  std::vector<std::uint64_t> stored = std::vector<std::uint64_t>(kWords);
  std::vector<std::uint64_t> block = std::vector<std::uint64_t>(kBlock);
  std::uint64_t added = 0;
};

class Turns {
 public:
  explicit Turns(lci::Port& port)
      : port_(port),
        puts_(splitc::all_malloc<std::uint64_t>(kWords * splitc::procs())),
        stores_(splitc::all_malloc<std::uint64_t>(kWords * splitc::procs())),
        blocks_(splitc::all_malloc<std::uint64_t>(kBlock * splitc::procs())),
        sums_(splitc::all_malloc<std::uint64_t>(splitc::procs())),
        written_(splitc::procs()),
        prng_(splitc::my_proc() + 1) {}

  bool turn(bool meets) {
    const std::uint32_t me = splitc::my_proc();
    const std::uint32_t to =
        (me + 1 + static_cast<std::uint32_t>(prng_.below(splitc::procs() - 1))) % splitc::procs();
    Written& there = written_[to];
    const global_ptr<std::uint64_t> puts = puts_.on(to) + std::int64_t{kWords} * me;
    const global_ptr<std::uint64_t> stores = stores_.on(to) + std::int64_t{kWords} * me;
    const global_ptr<std::uint64_t> block = blocks_.on(to) + std::int64_t{kBlock} * me;
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      const auto at = static_cast<std::uint32_t>(prng_.below(kWords));
      splitc::put(puts + at, there.put[at] = prng_.next());
      splitc::store(stores + at, there.stored[at] = prng_.next());
    }
    for (std::uint64_t& word : there.block) word = prng_.next();
    splitc::bulk_put(block, there.block.data(), kBlock);
    ++there.added;
    bool good = PORT_TEST_CHECK(splitc::atomic<&add_one>(to, (sums_ + me).offset()) == there.added,
                                port_, there.added);
    splitc::sync();
    std::vector<std::uint64_t> seen(kAtOnce);
    std::vector<std::uint64_t> expected(kAtOnce);
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      const auto at = static_cast<std::uint32_t>(prng_.below(kWords));
      splitc::get(&seen[i], puts + at);
      expected[i] = there.put[at];
    }
    std::vector<std::uint64_t> blocks(kBlock);
    splitc::bulk_get(blocks.data(), block, kBlock);
    splitc::sync();
    good = PORT_TEST_CHECK(seen == expected, port_, to) && good;
    good = PORT_TEST_CHECK(blocks == there.block, port_, to) && good;
    splitc::write(puts, there.put[0] = prng_.next());
    good = PORT_TEST_CHECK(splitc::read(puts) == there.put[0], port_, to) && good;
    if (!meets) return good;
    splitc::all_store_sync();
    std::vector<std::uint64_t> stored(kWords);
    splitc::bulk_read(stored.data(), stores, kWords);
    good = PORT_TEST_CHECK(stored == there.stored, port_, to) && good;
    splitc::barrier();
    return good;
  }

 private:
  lci::Port& port_;
  const global_ptr<std::uint64_t> puts_;
  const global_ptr<std::uint64_t> stores_;
  const global_ptr<std::uint64_t> blocks_;
  const global_ptr<std::uint64_t> sums_;
  std::vector<Written> written_;
  Prng prng_;
};

class Loss : public PerWorld {
 protected:
  void TearDown() override { ::unsetenv(via::kLossVariable); }

  static void operate(const std::string& world, std::uint64_t operations, std::uint64_t seed) {
    const std::string plan =
        "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01,seed=" + std::to_string(seed);
    ::setenv(via::kLossVariable, plan.c_str(), 1);
    constexpr unsigned kRanks = 3;
    const std::uint64_t turns = operations / kTurnOf / kRanks + 1;
    const bool named = world.find(' ') != std::string::npos;
    run_splitc(named ? world : "via-unreliable " + world, kRanks, [turns](lci::Port& port) {
      Turns made(port);
      bool good = true;
      for (std::uint64_t i = 1; i <= turns; ++i) good = made.turn(i % 8 == 0) && good;
      return good;
    });
  }
};
INSTANTIATE_PORT_TESTS_IN(Loss, ::testing::Values("shm", "udp", "myrinet-p3/sdma", "millennium/via",
                                                  "via-unreliable+gather udp",
                                                  "via-unreliable+selective shm",
                                                  "via-unreliable+selective udp",
                                                  "via-unreliable+selective millennium/via",
                                                  "via-unreliable+gather+selective udp"));

TEST_P(Loss, every_byte_comes_once) {
  std::uint64_t left = operations();
  for (std::uint64_t seed = 7; left > 0; ++seed) {
    const std::uint64_t now = std::min(left, kJobOperations);
    operate(GetParam(), now, seed);
    left -= now;
  }
}

// The network itself loses, doubles and corrupts packets, under what the network interfaces of a
// modelled machine move: unreliable virtual interfaces bear it, and reliable ones see nothing of
// it.
class WireLoss : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(WireLoss,
                          ::testing::Values("via", "via-unreliable", "via-unreliable+selective"));

TEST_P(WireLoss, every_byte_comes_once) {
  std::uint64_t left = operations();
  for (std::uint64_t seed = 7; left > 0; ++seed) {
    const std::uint64_t now = std::min(left, kJobOperations);
    left -= now;
    run::WorldOptions options = options_of(chosen(GetParam() + " millennium/via-nirx"), 3);
    options.timeout = seconds(3600);
    options.faults = "drop=0.01,dup=0.01,corrupt=0.01";
    options.seed = seed;
    const std::uint64_t turns = now / kTurnOf / options.ranks + 1;
    const Result<run::RunReport> report = run::run_world(options, [turns](run::Context& rank) {
      return splitc::start(&rank, [&rank, turns] {
        Turns made(rank.port());
        bool good = true;
        for (std::uint64_t i = 1; i <= turns; ++i) good = made.turn(i % 8 == 0) && good;
        return good ? 0 : 1;
      });
    });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
    EXPECT_GT(report.value().counters.retransmissions, 0u);
  }
}

// The network of this machine loses, doubles, reorders and corrupts packets, and nobody but
// Split-C's windows sends them again.
class RawLoss : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(RawLoss, ::testing::Values("via-unreliable", "via-unreliable+selective"));

run::WorldOptions raw_options(const std::string& implementation, unsigned ranks) {
  run::WorldOptions options = options_of(chosen(implementation + " udp/raw"), ranks);
  options.timeout = seconds(3600);
  return options;
}

TEST_P(RawLoss, every_byte_comes_once) {
  std::uint64_t left = operations();
  for (std::uint64_t seed = 7; left > 0; ++seed) {
    const std::uint64_t now = std::min(left, kJobOperations);
    left -= now;
    run::WorldOptions options = raw_options(GetParam(), 3);
    options.faults = "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01";
    options.seed = seed;
    const std::uint64_t turns = now / kTurnOf / options.ranks + 1;
    const Result<run::RunReport> report = run::run_world(options, [turns](run::Context& rank) {
      return splitc::start(&rank, [&rank, turns] {
        Turns made(rank.port());
        bool good = true;
        for (std::uint64_t i = 1; i <= turns; ++i) good = made.turn(i % 8 == 0) && good;
        return good ? 0 : 1;
      });
    });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
    EXPECT_EQ(report.value().counters.retransmissions, 0u);
  }
}

TEST(Raw, what_cannot_bear_loss_is_refused_by_name) {
  const auto failure_of = [](const std::string& implementation,
                             const std::function<int(run::Context&)>& body) {
    const Result<run::RunReport> report = run::run_world(raw_options(implementation, 2), body);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
    if (!report.ok()) return std::string();
    EXPECT_NE(report.value().exit_code, 0);
    return report.value().failure;
  };
  for (const std::string name : {"direct", "via", "amvia", "am"}) {
    const std::string said =
        failure_of(name, [](run::Context& rank) { return splitc::start(&rank, [] { return 0; }); });
    EXPECT_NE(said.find("Split-C: '" + name + "' cannot bear that packets are lost"),
              std::string::npos)
        << said;
  }
  for (const run::SystemRow& row : run::kSystems) {
    if (row.bears_loss) continue;
    const std::string said = failure_of("direct", [&row](run::Context& rank) {
      rank.began(row.system);
      return 0;
    });
    EXPECT_NE(said.find(std::string(row.name) + " cannot bear that packets are lost"),
              std::string::npos)
        << said;
  }
}

}  // namespace
}  // namespace fairlead::port_test
