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
    {"myrinet-ppro", "sdma", 0xd3c985118286a26b, 1841304300, 0x2cb2c69d9f198029, 5537234980},
    {"myrinet-ppro", "pio", 0x84b1ab04f9eaac80, 1586719540, 0xceb940e56212a7de, 3598210368},
    {"myrinet-p3", "sdma", 0xc3b398bb127d99e2, 939865300, 0x4c0919ccbecf92bc, 2207696358},
    {"myrinet-p3", "pio", 0x417a3797c68d11bf, 907920380, 0x3a80cdc71b0cc277, 1132470643},
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
