#include <sched.h>

#include <algorithm>
#include <cmath>

#include "fairlead/run/machine/cgroup.h"
#include "fairlead/run/machine/probes.h"

namespace fairlead::run {
namespace {

std::vector<std::uint32_t> affinity() {
  std::vector<std::uint32_t> allowed;
  // A mask for more processors than any kernel is built for (NR_CPUS is at most 8192).
  constexpr int kMaskProcessors = 16384;
  cpu_set_t* mask = CPU_ALLOC(kMaskProcessors);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMaskProcessors);
  CPU_ZERO_S(bytes, mask);
  if (::sched_getaffinity(0, bytes, mask) == 0) {
    for (std::size_t i = 0; i < kMaskProcessors; ++i) {
      if (CPU_ISSET_S(i, bytes, mask)) allowed.push_back(static_cast<std::uint32_t>(i));
    }
  }
  CPU_FREE(mask);
  if (allowed.empty()) allowed.push_back(0);
  return allowed;
}

}  // namespace

CpuLimits cpu_limits() {
  CpuLimits limits;
  limits.allowed = affinity();
  limits.cgroup_cpus = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  limits.usable = static_cast<std::uint32_t>(limits.allowed.size());
  if (limits.cgroup_cpus > 0) {
    const auto whole = static_cast<std::uint32_t>(std::max(1.0, std::floor(limits.cgroup_cpus)));
    limits.usable = std::min(limits.usable, whole);
  }
  return limits;
}

}  // namespace fairlead::run
