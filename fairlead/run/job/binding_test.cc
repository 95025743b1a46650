#include "fairlead/run/job/binding.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace fairlead::run {
namespace {

TEST(CpuList, ReadsNumbersAndRanges) {
  // Expect: ranges are inclusive, order is kept
  EXPECT_EQ(parse_cpu_list("3,0-2").value(), (std::vector<std::uint32_t>{3, 0, 1, 2}));
}

TEST(CpuList, RefusesWhatIsNotAList) {
  for (const char* text : {"", ",", "1,", "a", "2-1", "1-", "-1", "0;1", "99999999"}) {
    // Expect: an error that says what to write
    const auto parsed = parse_cpu_list(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().text.find("0,2-3"), std::string::npos) << parsed.error().text;
  }
}

TEST(Binding, AutoGivesEachRankItsOwnProcessorOrNone) {
  const CpuLimits limits = cpu_limits();
  const auto fits = choose_binding("auto", limits.usable, limits);
  ASSERT_TRUE(fits.ok()) << fits.error().text;
  // Expect: distinct, allowed processors, and waiting that spins first
  std::vector<std::uint32_t> sorted = fits.value().processors;
  ASSERT_EQ(sorted.size(), limits.usable);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_TRUE(
      std::includes(limits.allowed.begin(), limits.allowed.end(), sorted.begin(), sorted.end()));
  EXPECT_GT(fits.value().wait.spins, 0u);

  const auto crowded = choose_binding("auto", limits.usable + 1, limits);
  ASSERT_TRUE(crowded.ok());
  // Expect: more ranks than processors are not bound and yield at once
  EXPECT_TRUE(crowded.value().processors.empty());
  EXPECT_EQ(crowded.value().wait.spins, 0u);
}

TEST(Binding, LeavesTheEnvironmentAsItIs) {
  constexpr const char* kPlugins = "HWLOC_PLUGINS_PATH";
  const CpuLimits limits = cpu_limits();
  ASSERT_EQ(::unsetenv(kPlugins), 0);
  ASSERT_TRUE(choose_binding("auto", 1, limits).ok());
  EXPECT_EQ(std::getenv(kPlugins), nullptr);
  ASSERT_EQ(::setenv(kPlugins, "/somewhere", 1), 0);
  ASSERT_TRUE(choose_binding("auto", 1, limits).ok());
  EXPECT_STREQ(std::getenv(kPlugins), "/somewhere");
  ASSERT_EQ(::unsetenv(kPlugins), 0);
}

TEST(Binding, AQuotaCountsLikeMissingProcessors) {
  const CpuLimits limits{.allowed = {0, 1, 2, 3}, .cgroup_cpus = 1.5, .usable = 1};
  const auto binding = choose_binding("auto", 2, limits);
  ASSERT_TRUE(binding.ok());
  // Expect: two ranks on one and a half processors yield at once
  EXPECT_TRUE(binding.value().processors.empty());
  EXPECT_EQ(binding.value().wait.spins, 0u);
}

TEST(Binding, AListIsUsedInTurnAndSharingShowsInTheWaiting) {
  const CpuLimits limits{.allowed = {0, 1, 2, 3}, .cgroup_cpus = 0, .usable = 4};
  const auto shared = choose_binding("3,1", 3, limits);
  ASSERT_TRUE(shared.ok());
  // Expect: rank 2 comes round to processor 3, and ranks that share a processor do not spin
  EXPECT_EQ(shared.value().processors, (std::vector<std::uint32_t>{3, 1, 3}));
  EXPECT_EQ(shared.value().wait.spins, 0u);

  const auto foreign = choose_binding("7", 1, limits);
  // Expect: a processor outside the mask is named with those that may be used
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().text.find("processor 7"), std::string::npos);
  EXPECT_NE(foreign.error().text.find("0,1,2,3"), std::string::npos);
}

TEST(HardwareKinds, AThreadOnOneProcessorIsRestrictedToAllThatHoldsIt) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  bind_to(cpu_limits().allowed.front());
  const std::vector<HardwareKind> bound = hardware_kinds();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  // Expect: machine, core and hardware thread at least, each restricted, the machine first
  ASSERT_GE(bound.size(), 3u);
  EXPECT_EQ(bound.front().name, "Machine");
  EXPECT_EQ(bound.back().name, "PU");
  for (const HardwareKind& kind : bound) EXPECT_TRUE(kind.restricted) << kind.name;

  if (cpu_limits().allowed.size() < 2) return;
  // Expect: free to move, the thread is in one machine, but on no one hardware thread
  const std::vector<HardwareKind> free = hardware_kinds();
  EXPECT_TRUE(free.front().restricted);
  EXPECT_FALSE(free.back().restricted);
}

}  // namespace
}  // namespace fairlead::run
