#include "fairlead/hw/host_cost.h"

#include <gtest/gtest.h>

#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

// Seconds of `times` sweeps over more than L2.
double sweeps_seconds(const char* platform_file, double times, std::uint64_t ops,
                      std::uint64_t bytes) {
  const Result<Platform> platform = load_platform(std::string(FAIRLEAD_PLATFORMS) + platform_file);
  if (!platform.ok()) return 0;
  return to_seconds(work_time(platform.value().host, {ops, bytes, bytes, 0})) * times;
}

constexpr const char* kPpro = "/myrinet-ppro.toml";
constexpr const char* kP3 = "/myrinet-p3.toml";

// T1 of the LCI paper, table VII, of the programs that memory bounds, with the operations that the
// programs under apps/ declare.
TEST(HostCost, SequentialSorTakesTableSevensTime) {
  // 100 iterations of two half sweeps over 1536 x 1536 doubles, seven operations each.
  constexpr std::uint64_t kGrid = 1536 * 1536;
  EXPECT_NEAR(sweeps_seconds(kPpro, 200, 7 * kGrid, 8 * kGrid), 27.9, 27.9 * 0.02);
  EXPECT_NEAR(sweeps_seconds(kP3, 200, 7 * kGrid, 8 * kGrid), 13.7, 13.7 * 0.05);
}

TEST(HostCost, SequentialAspTakesTableSevensTime) {
  // 1024 sweeps over 1024 x 1024 integers.
  constexpr std::uint64_t kCells = 1024 * 1024;
  EXPECT_NEAR(sweeps_seconds(kPpro, 1024, kCells * 84 / 10, 4 * kCells), 63.3, 63.3 * 0.02);
  EXPECT_NEAR(sweeps_seconds(kP3, 1024, kCells * 84 / 10, 4 * kCells), 17.8, 17.8 * 0.02);
}

TEST(HostCost, SequentialQrTakesTableSevensTime) {
  // Step k applies a reflection to what is left, 1024 - k rows and columns.
  constexpr std::uint64_t kElements = 1024ULL * 1025 * 2049 / 6;
  EXPECT_NEAR(sweeps_seconds(kPpro, 1, kElements * 26, 8 * kElements), 58.7, 58.7 * 0.02);
  EXPECT_NEAR(sweeps_seconds(kP3, 1, kElements * 26, 8 * kElements), 14.8, 14.8 * 0.05);
}

TEST(HostCost, LeqsRatioOfPlatformsIsTableSevens) {
  // Published: 643.1 and 212.5 s
  constexpr std::uint64_t kCoefficients = 1000 * 1000;
  const double ratio = sweeps_seconds(kPpro, 1, 10 * kCoefficients, 8 * kCoefficients) /
                       sweeps_seconds(kP3, 1, 10 * kCoefficients, 8 * kCoefficients);
  EXPECT_NEAR(ratio, 643.1 / 212.5, 0.06 * 643.1 / 212.5);
}

TEST(HostCost, OperationsHideBehindMissesOnlyWithinTheReorderBuffer) {
  const HostParams platform = round_platform().host;  // 100 ns a line, 50 in an open row, 40 ops
  constexpr std::uint64_t kLines = 100'000;
  // Expect: 39 operations a line wait behind its 100 ns
  EXPECT_EQ(work_time(platform, {39 * kLines, 32 * kLines, 1 << 20, 0}), microseconds(10'000));
  // Expect: 60 operations a line and 50 ns of an open row
  EXPECT_EQ(work_time(platform, {60 * kLines, 32 * kLines, 1 << 20, 0}), microseconds(11'000));
  // Expect: no more operations take less time
  EXPECT_EQ(work_time(platform, {40 * kLines, 32 * kLines, 1 << 20, 0}), microseconds(10'000));
}

TEST(HostCost, OperationsDominateWithinL2) {
  const HostParams platform = round_platform().host;
  // Expect: 1000 lines of 10 ns are hidden behind 20 us of operations
  EXPECT_EQ(work_time(platform, {20'000, 32'000, 64 * 1024, 0}), microseconds(20));
  // Expect: the same sweep over too much for L2 pays memory for each line
  EXPECT_EQ(work_time(platform, {20'000, 32'000, 512 * 1024, 0}), microseconds(100));
}

TEST(HostCost, CopiesComeOnTop) {
  const HostParams platform = round_platform().host;
  // Expect: 1 ns a byte within L2, 2 ns beyond
  EXPECT_EQ(work_time(platform, {1000, 0, 1024, 4000}), microseconds(5));
  EXPECT_EQ(work_time(platform, {1000, 0, 1 << 20, 4000}), microseconds(9));
  EXPECT_EQ(work_time(platform, {}), Ps{0});
}

TEST(HostCost, FaultsAndProtectionsCostWhatThePlatformSays) {
  HostParams platform = round_platform().host;
  HostWork work{1000, 0, 0, 0};
  work.page_faults = 2;
  work.protections = 3;
  // Expect: nothing where it says nothing
  EXPECT_EQ(work_time(platform, work), microseconds(1));
  platform.page_fault = microseconds(7);
  platform.protection = microseconds(2);
  EXPECT_EQ(work_time(platform, work), microseconds(1 + 2 * 7 + 3 * 2));
}

TEST(HostCost, AHandlerStandsBesideEveryRankOrNone) {
  HostParams host = round_platform().host;
  // Expect: one processor is the rank's
  EXPECT_FALSE(host.handler_beside(1));
  host.processors = 2;
  EXPECT_TRUE(host.handler_beside(1));
  EXPECT_FALSE(host.handler_beside(2));
  host.handler = HostParams::kSame;
  EXPECT_FALSE(host.handler_beside(1));
}

}  // namespace
}  // namespace fairlead::hw
