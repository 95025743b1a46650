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
    {"myrinet-ppro", "pio", 0x59a07d94ca38a1c4, 1611289540, 0x5047aaed539516af, 3425648096},
    {"myrinet-p3", "sdma", 0x097a085ff630d176, 939865300, 0x6e1303e64f15ccef, 2214982307},
    {"myrinet-p3", "pio", 0x0de67d225e4686ce, 907920380, 0xc6da9292d7a16899, 1095480491},
    {"myrinet-ppro", "nirx", 0xd295958e6d307ae5, 1960781515, 0x03c501cedeb86bcd, 7338932476},
    {"myrinet-ppro", "hrx", 0xd5175ea7c643acb5, 2019158780, 0xa0efeaef823b136e, 6334270373},
    {"myrinet-p3", "nirx", 0xd008bf74c83433d3, 969414216, 0x4839fa792c0f55a1, 2604496129},
    {"myrinet-p3", "hrx", 0x693034ed66a03670, 974736220, 0xd4bf03dee6ea23ca, 2590730039},
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
