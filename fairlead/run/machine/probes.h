// What this kernel and this place in it (container, cgroup, affinity) allow: for `fairlead info`
// and for the defaults of start-up. Every probe asks the kernel; none trusts a version number.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::run {

// The library by which a PMIx launcher is spoken to (join/pmix_abi.h); loaded at run time.
constexpr char kPmixLibrary[] = "libpmix.so.2";

struct Probe {
  std::string name;  // "process_vm access", "userfaultfd", ...
  bool works = false;
  std::string detail;  // one line: what it gives, or why it is missing and what that costs
};

// Tries each facility once; a few system calls and one short-lived child process.
std::vector<Probe> probe_kernel();

struct CpuLimits {
  std::vector<std::uint32_t> allowed;  // processors of the affinity mask, ascending; never empty
  double cgroup_cpus = 0;              // tightest cgroup quota in processors; 0: none
  // Processors' worth of time this process may use: the smaller of the two, at least 1.
  std::uint32_t usable = 1;
};
CpuLimits cpu_limits();

// What this host calls itself.
std::string host_name();
// As above, for every process of one running kernel, and of no other; empty where it cannot be
// read.
std::string machine_id();

}  // namespace fairlead::run
