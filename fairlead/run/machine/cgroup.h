// The processor quota of the control groups a process is in.
#pragma once
#include <string>

namespace fairlead::run {

// Processors' worth of time the tightest quota grants, from the group named in `membership`
// (/proc/self/cgroup) up to the root of the hierarchy mounted at `mount`; version 2 (cpu.max) and
// version 1 (cpu/cpu.cfs_quota_us). 0: no quota, or nothing readable.
double cgroup_cpu_quota(const std::string& membership, const std::string& mount);

}  // namespace fairlead::run
