// What implementations promise on the model: everything comes once, whole and in order, whatever
// the wires do, where they retransmit; and multicast on the NIs never blocks itself, however few
// buffers there are (LCI paper sections 4.2 and 5.1).
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "fairlead/run/platform_files.h"
#include "tests/golden/bodies.h"

namespace fairlead::golden {
namespace {

run::RunReport run_all(const run::WorldOptions& options, const run::Body& body) {
  const auto report = run::run_world(options, body);
  EXPECT_TRUE(report.ok()) << report.error().text;
  return report.ok() ? report.value() : run::RunReport{};
}

// A platform like `name` with so many receive buffers of 2 Kbyte on its NIs.
std::string with_receive_buffers(const char* name, int buffers) {
  namespace fs = std::filesystem;
  const fs::path from = run::find_platform(name).value();
  const fs::path to = fs::path(testing::TempDir()) / std::to_string(::getpid());
  fs::create_directories(to);
  fs::copy_file(from.parent_path() / "lci-firmware.toml", to / "lci-firmware.toml",
                fs::copy_options::overwrite_existing);
  std::ifstream in(from);
  std::stringstream text;
  text << in.rdbuf();
  const std::regex value("receive_buffers = \\{ value = [0-9]+");
  const fs::path file = to / (std::to_string(buffers) + ".toml");
  std::ofstream(file) << std::regex_replace(
      text.str(), value, "receive_buffers = { value = " + std::to_string(buffers));
  return file.string();
}

struct Faulty {
  const char* lci;
  const char* faults;
};

class Retransmission : public testing::TestWithParam<Faulty> {};
INSTANTIATE_TEST_SUITE_P(
    Each, Retransmission,
    testing::Values(Faulty{"nirx", ""}, Faulty{"nirx", "drop=0.000001"},
                    Faulty{"nirx", "drop=0.001"}, Faulty{"nirx", "drop=0.05"},
                    Faulty{"pio-nirx", "drop=0.02,corrupt=0.02"},
                    Faulty{"nirx-1k", "dup=0.02,reorder=0.02"},
                    Faulty{"nirx-hmc", "drop=0.02,delay=300us:0.02"},
                    Faulty{"nirx-binomial", "drop=0.01,dup=0.01,corrupt=0.01,reorder=0.01"},
                    Faulty{"hrx", ""}, Faulty{"hrx", "drop=0.000001"}, Faulty{"hrx", "drop=0.001"},
                    Faulty{"hrx", "drop=0.05"}, Faulty{"pio-hrx", "drop=0.02,corrupt=0.02"},
                    Faulty{"hrx-1k", "dup=0.02,reorder=0.02"},
                    Faulty{"hrx-4k", "drop=0.02,delay=300us:0.02"},
                    Faulty{"hrx-binomial", "drop=0.01,dup=0.01,corrupt=0.01,reorder=0.01"}));

TEST_P(Retransmission, EverythingComesOnceInOrder) {
  run::WorldOptions options = modelled("myrinet-p3", GetParam().lci, 5);
  options.faults = GetParam().faults;
  options.seed = 11;
  const run::RunReport report =
      run_all(options, [](run::Context& rank) { return numbered_all_to_all(rank, 150); });
  EXPECT_EQ(report.failure, "");
  const bool lossy = options.faults.find("0.0") != std::string::npos &&
                     options.faults.find("0.000001") == std::string::npos;
  // Expect: the plan did something, and it was mended
  if (lossy) {
    EXPECT_GT(report.counters.retransmissions, 0u);
  }
}

TEST_P(Retransmission, MulticastsComeOnceInOrder) {
  run::WorldOptions options = modelled("myrinet-ppro", GetParam().lci, 9);
  options.faults = GetParam().faults;
  options.seed = 5;
  const run::RunReport report =
      run_all(options, [](run::Context& rank) { return all_broadcast(rank, 40, 100); });
  EXPECT_EQ(report.failure, "");
}

struct Crowd {
  const char* lci;
  int buffers;
};
class FewBuffers : public testing::TestWithParam<Crowd> {};
// 16 nodes: one buffer a sender for credits; for the shared pool one more than the classes of
// edges.
INSTANTIATE_TEST_SUITE_P(Each, FewBuffers,
                         testing::Values(Crowd{"sdma", 15}, Crowd{"pio", 15},
                                         Crowd{"sdma-binomial", 15}, Crowd{"sdma-hmc", 15},
                                         Crowd{"pio-hmc-binomial", 15}, Crowd{"nirx", 7},
                                         Crowd{"nirx-binomial", 7}, Crowd{"nirx-hmc", 7},
                                         Crowd{"hrx", 7}, Crowd{"pio-hrx-binomial", 3}));

TEST_P(FewBuffers, AllBroadcastAtOnce) {
  const run::WorldOptions options =
      modelled(with_receive_buffers("myrinet-p3", GetParam().buffers).c_str(), GetParam().lci, 16);
  const run::RunReport report =
      run_all(options, [](run::Context& rank) { return all_broadcast(rank, 25, 1000); });
  // Expect: no deadlock
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.counters.multicasts_received, 16u * 15 * 25);
}

// A rank that has ended, on the host or below, sends again and acknowledges again what is lost.
class LastPacket : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Each, LastPacket, testing::Values("nirx", "hrx", "pio-hrx"));

TEST_P(LastPacket, ComesThoughItsSenderHasEnded) {
  std::uint64_t again = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    run::WorldOptions options = modelled("myrinet-ppro", GetParam(), 2);
    options.faults = "drop=0.3";
    options.seed = seed;
    const run::RunReport report = run_all(options, [](run::Context& rank) {
      Numbered numbered;
      numbered.expected.resize(2);
      rank.port().bind(kChan, {Numbered::take, &numbered}, {});
      if (rank.port().self() == 0) return send_numbered(rank.port(), {1}, 0, 100) ? 0 : 1;
      (void)rank.port().wait({.counter = &numbered.received, .at = 1, .what = "the last packet"});
      return numbered.wrong == 0 && numbered.received.ok == 1 ? 0 : 2;
    });
    EXPECT_EQ(report.failure, "") << "seed " << seed;
    again += report.counters.retransmissions;
  }
  EXPECT_GT(again, 0u);
}

TEST(Reliable, EndedRanksServeFetchAndAdd) {
  for (const char* lci : {"nirx", "hrx"}) {
    run::WorldOptions options = modelled("myrinet-p3", lci, 4);
    options.faults = "drop=0.05";
    const run::RunReport report = run_all(options, [](run::Context& rank) {
      lci::Port& port = rank.port();
      if (port.allocate(kWord, 8, lci::Place::ni) == nullptr) return 1;
      if (port.self() == 0) return 0;
      Counter added;
      std::uint64_t old = 0;
      for (std::uint64_t i = 1; i <= 20; ++i) {
        (void)port.atomic({0, kWord, 0}, lci::Atomic::add, 1, 0, &old, &added);
        (void)port.wait({.counter = &added, .at = i, .what = "fetch-and-add"});
      }
      return old >= 19 && old < 60 ? 0 : 2;
    });
    EXPECT_EQ(report.failure, "") << lci;
    EXPECT_EQ(report.counters.fetch_adds_served, 60u) << lci;
  }
}

// Acknowledgments are taken, and sent, while the client lets no upcall run.
TEST(Reliable, HeldRanksStillAcknowledge) {
  run::WorldOptions options = modelled("myrinet-ppro", "hrx", 2);
  options.faults = "drop=0.02";
  const run::RunReport report = run_all(options, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Numbered numbered;
    numbered.expected.resize(2);
    port.bind(kChan, {Numbered::take, &numbered}, {});
    port.hold();
    for (std::uint32_t i = 0; i < 300; ++i) {
      if (!send_numbered(port, {1 - port.self()}, i, 500)) return 1;
    }
    if (numbered.received.ok != 0) return 2;
    port.allow();
    (void)port.wait({.counter = &numbered.received, .at = 300, .what = "the other's packets"});
    return numbered.wrong == 0 ? 0 : 3;
  });
  EXPECT_EQ(report.failure, "");
}

// Work of 40 ms and more on both platforms.
constexpr lci::Work kLongWork{.ops = 40'000'000};

// What came before its receiver began to compute is acknowledged meanwhile: its timer interrupts.
TEST(Reliable, AHostThatComputesAcknowledges) {
  for (const char* on : {"myrinet-ppro", "myrinet-p3"}) {
    const run::RunReport report = run_all(modelled(on, "hrx", 2), [](run::Context& rank) {
      lci::Port& port = rank.port();
      Numbered numbered;
      numbered.expected.resize(2);
      port.bind(kChan, {Numbered::take, &numbered}, {});
      if (port.self() == 0) return send_numbered(port, {1}, 0, 100) ? 0 : 1;
      (void)port.wait({.counter = &numbered.received, .at = 1, .what = "the packet"});
      port.charge(kLongWork);
      return numbered.wrong == 0 ? 0 : 2;
    });
    EXPECT_EQ(report.failure, "");
    // Expect: nobody had to ask again, and the host was interrupted for it.
    EXPECT_EQ(report.counters.retransmissions, 0u) << on;
    EXPECT_GT(report.counters.interrupts, 0u) << on;
  }
}

// What is lost is sent again while its sender computes, also where it lets no upcall run.
TEST(Reliable, AHostThatComputesSendsAgain) {
  for (const bool held : {false, true}) {
    std::uint64_t again = 0;
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
      run::WorldOptions options = modelled("myrinet-p3", "hrx", 2);
      options.faults = "drop=0.3";
      options.seed = seed;
      const run::RunReport report = run_all(options, [held](run::Context& rank) {
        lci::Port& port = rank.port();
        Numbered numbered;
        numbered.expected.resize(2);
        port.bind(kChan, {Numbered::take, &numbered}, {});
        if (port.self() == 0) {
          if (!send_numbered(port, {1}, 0, 100)) return 1;
          if (held) port.hold();
          const Ps before = port.now();
          port.charge(kLongWork);
          if (held) port.allow();
          return port.now() - before >= milliseconds(40) ? 0 : 2;
        }
        (void)port.wait({.counter = &numbered.received, .at = 1, .what = "the packet"});
        // Expect: it is here before its sender has done its work.
        return numbered.wrong == 0 && port.now() < milliseconds(40) ? 0 : 3;
      });
      EXPECT_EQ(report.failure, "") << "seed " << seed;
      again += report.counters.retransmissions;
    }
    EXPECT_GT(again, 0u);
  }
}

TEST(Reliable, TooFewBuffersAreRefusedWithTheNumber) {
  const std::string platform = with_receive_buffers("myrinet-p3", 5);
  const auto nirx =
      run::run_world(modelled(platform.c_str(), "nirx", 16), [](run::Context&) { return 0; });
  ASSERT_FALSE(nirx.ok());
  EXPECT_NE(nirx.error().text.find("5 receive buffers; 16 nodes need 7"), std::string::npos)
      << nirx.error().text;
  const auto sdma =
      run::run_world(modelled(platform.c_str(), "sdma", 16), [](run::Context&) { return 0; });
  ASSERT_FALSE(sdma.ok());
  EXPECT_NE(sdma.error().text.find("at most 6 nodes"), std::string::npos) << sdma.error().text;
}

}  // namespace
}  // namespace fairlead::golden
