#include "fairlead/run/machine/probes.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "fairlead/run/job/reaper.h"

namespace fairlead::run {
namespace {

TEST(Probes, EachSaysWhatItGivesOrWhyItIsMissing) {
  const std::vector<Probe> probes = probe_kernel();
  // Expect: the facilities of `fairlead info`, each with its line
  ASSERT_EQ(probes.size(), 10u);
  for (const Probe& probe : probes) {
    EXPECT_FALSE(probe.name.empty());
    EXPECT_FALSE(probe.detail.empty()) << probe.name;
    EXPECT_EQ(probe.detail.find('\n'), std::string::npos) << probe.name;
  }
  // Expect: the children the probes tried things on are gone
  EXPECT_TRUE(children_of_self().empty());
}

TEST(Probes, UserfaultfdNamesTheEngineOfSharedPages) {
  for (const Probe& probe : probe_kernel()) {
    if (probe.name != "userfaultfd") continue;
    EXPECT_NE(probe.detail.find(probe.works ? "the engine uffd" : "the engine mprotect"),
              std::string::npos)
        << probe.detail;
    return;
  }
  FAIL() << "nothing is said of userfaultfd";
}

TEST(Probes, ProcessorsAreThoseOfTheAffinityMask) {
  const CpuLimits limits = cpu_limits();
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  // Expect: as many as the kernel counts, and no more usable than allowed
  EXPECT_EQ(limits.allowed.size(), static_cast<std::size_t>(CPU_COUNT(&mask)));
  EXPECT_GE(limits.usable, 1u);
  EXPECT_LE(limits.usable, limits.allowed.size());
}

}  // namespace
}  // namespace fairlead::run
