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
INSTANTIATE_TEST_SUITE_P(Each, Retransmission,
                         testing::Values(Faulty{"nirx", ""}, Faulty{"nirx", "drop=0.000001"},
                                         Faulty{"nirx", "drop=0.001"}, Faulty{"nirx", "drop=0.05"},
                                         Faulty{"pio-nirx", "drop=0.02,corrupt=0.02"},
                                         Faulty{"nirx-1k", "dup=0.02,reorder=0.02"},
                                         Faulty{"nirx-hmc", "drop=0.02,delay=300us:0.02"},
                                         Faulty{"nirx-binomial",
                                                "drop=0.01,dup=0.01,corrupt=0.01,reorder=0.01"}));

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
                                         Crowd{"nirx-binomial", 7}, Crowd{"nirx-hmc", 7}));

TEST_P(FewBuffers, AllBroadcastAtOnce) {
  const run::WorldOptions options =
      modelled(with_receive_buffers("myrinet-p3", GetParam().buffers).c_str(), GetParam().lci, 16);
  const run::RunReport report =
      run_all(options, [](run::Context& rank) { return all_broadcast(rank, 25, 1000); });
  // Expect: no deadlock
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.counters.multicasts_received, 16u * 15 * 25);
}

TEST(Reliable, TooFewBuffersAreRefusedWithTheNumber) {
  const std::string platform = with_receive_buffers("myrinet-p3", 5);
  const auto nirx =
      run::run_world(modelled(platform.c_str(), "nirx", 16), [](run::Context&) { return 0; });
  ASSERT_FALSE(nirx.ok());
  EXPECT_NE(nirx.error().text.find("5 receive buffers; 16 ranks need 7"), std::string::npos)
      << nirx.error().text;
  const auto sdma =
      run::run_world(modelled(platform.c_str(), "sdma", 16), [](run::Context&) { return 0; });
  ASSERT_FALSE(sdma.ok());
  EXPECT_NE(sdma.error().text.find("at most 6 nodes"), std::string::npos) << sdma.error().text;
}

}  // namespace
}  // namespace fairlead::golden
