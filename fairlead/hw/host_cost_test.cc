#include "fairlead/hw/host_cost.h"

#include <gtest/gtest.h>

#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

// 100 iterations of two half sweeps over 1536 x 1536 doubles (LCI paper, table VII).
double sor_seconds(const char* platform_file) {
  const Result<Platform> platform = load_platform(std::string(FAIRLEAD_PLATFORMS) + platform_file);
  if (!platform.ok()) return 0;
  constexpr std::uint64_t kGrid = 1536 * 1536;
  const HostWork half_sweep{3 * kGrid, kGrid * 8, kGrid * 8, 0};
  return to_seconds(work_time(platform.value().host, half_sweep) * 200);
}

TEST(HostCost, SequentialSorTakesTableSevensTime) {
  // Expect: T1 of table VII within 5 %
  EXPECT_NEAR(sor_seconds("/myrinet-ppro.toml"), 27.9, 27.9 * 0.05);
  EXPECT_NEAR(sor_seconds("/myrinet-p3.toml"), 13.7, 13.7 * 0.05);
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

}  // namespace
}  // namespace fairlead::hw
