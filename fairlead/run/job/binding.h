// Which processor each rank of this machine runs on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/machine/probes.h"

namespace fairlead::run {

struct Binding {
  // Processor of each rank; empty: ranks are not bound.
  std::vector<std::uint32_t> processors;
  // As above, for each NI engine here.
  std::vector<std::uint32_t> engines{};
  WaitPlan wait;
};

// `how`: "none"; a list such as "0,2-3", used in turn by rank; or "auto": with at most as many
// ranks as usable processors one core each, spread over the machine (hwloc), else no binding: the
// kernel balances more ranks than processors better than a fixed assignment. The waiting plan
// follows from the processors the ranks really have: affinity mask, cgroup quota and shared entries
// of the list included. Error: a list that does not read, or a processor this process may not use.
// `engines` of the job's NI engines are bound and counted like ranks that follow the last one; with
// auto and too few processors for all, nobody is bound.
Result<Binding> choose_binding(const std::string& how, std::uint32_t ranks, const CpuLimits& limits,
                               std::uint32_t engines = 0);

// As above, for a modelled job, of whose processes one at a time runs: "auto" puts the ranks and
// the calling thread, which simulates, on the processor it is on. A hand-over between them costs
// 1-4 us there, 30 between two processors (bench/model_gate). The waiting plan is not used.
Result<Binding> choose_model_binding(const std::string& how, std::uint32_t ranks,
                                     const CpuLimits& limits);

// Binds the calling process. Nothing happens where the processor went away meanwhile: an unbound
// rank is slower, not wrong.
void bind_to(std::uint32_t processor);

// A kind of hardware by hwloc's name ("Machine", "Package", "NUMANode", "L3Cache", "Core", "PU").
struct HardwareKind {
  std::string name;
  // All processors on which the calling thread may run lie in one instance of it.
  bool restricted;
};
// The kinds that this machine has, from the largest to the smallest. Empty: hwloc does not know
// this machine.
std::vector<HardwareKind> hardware_kinds();

// "0,2-3" -> {0, 2, 3}.
Result<std::vector<std::uint32_t>> parse_cpu_list(const std::string& text);

}  // namespace fairlead::run
