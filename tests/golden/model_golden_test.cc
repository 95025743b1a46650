// Digest and virtual time of small programs, as fixed numbers. They change when the model or its
// platform files do, which a commit then says; never with compiler, options or machine.
#include <gtest/gtest.h>

#include "tests/golden/bodies.h"

namespace fairlead::golden {
namespace {

struct Golden {
  const char* on;
  const char* lci;
  std::uint64_t ping_pong_digest;
  std::int64_t ping_pong_ps;
  std::uint64_t all_to_all_digest;
  std::int64_t all_to_all_ps;
};

constexpr Golden kGolden[] = {
    {"myrinet-ppro", "sdma", 0x1129cdb62bbb17c1, 1841304300, 0xb9db9672dc3a933e, 5515952829},
    {"myrinet-ppro", "pio", 0x59a07d94ca38a1c4, 1611289540, 0xb3e8b19742d307eb, 3424922323},
    {"myrinet-p3", "sdma", 0x097a085ff630d176, 939865300, 0x6e1303e64f15ccef, 2214982307},
    {"myrinet-p3", "pio", 0x0de67d225e4686ce, 907920380, 0xe881ed0252a840f6, 1102639875},
    {"myrinet-ppro", "nirx", 0xd295958e6d307ae5, 1960781515, 0x95a9247012f29788, 7395129927},
    {"myrinet-ppro", "hrx", 0x67d027361c81bdf3, 2019158780, 0x19fcfb78b2722b7d, 6279746162},
    {"myrinet-p3", "nirx", 0xd008bf74c83433d3, 969414216, 0xb00d5825c58003fd, 2616417860},
    {"myrinet-p3", "hrx", 0x3d5b16ae70bafae4, 974736220, 0x7259ae124b2e0e29, 2576646403},
};

class ModelGolden : public testing::TestWithParam<Golden> {};
INSTANTIATE_TEST_SUITE_P(Both, ModelGolden, testing::ValuesIn(kGolden), [](const auto& at) {
  const std::string on = at.param.on;
  return on.substr(on.find('-') + 1) + "_" + at.param.lci;
});

TEST_P(ModelGolden, PingPong) {
  const Golden& golden = GetParam();
  const auto report = run::run_world(modelled(golden.on, golden.lci, 2), [](run::Context& rank) {
    const int small = ping_pong(rank, 16, 10);
    return small != 0 ? small : ping_pong(rank, 2000, 10);
  });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().failure, "");
  // Expect: the same run, event for event
  EXPECT_EQ(report.value().virtual_time.count, golden.ping_pong_ps);
  EXPECT_EQ(report.value().digest, golden.ping_pong_digest);
}

TEST_P(ModelGolden, AllToAllWithFetchAndAdd) {
  const Golden& golden = GetParam();
  const auto report = run::run_world(modelled(golden.on, golden.lci, 8),
                                     [](run::Context& rank) { return all_to_all(rank, 30); });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().failure, "");
  EXPECT_EQ(report.value().counters.packets_sent, 8u * 7 * 30);
  EXPECT_EQ(report.value().virtual_time.count, golden.all_to_all_ps);
  EXPECT_EQ(report.value().digest, golden.all_to_all_digest);
}

}  // namespace
}  // namespace fairlead::golden
