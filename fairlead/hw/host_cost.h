// What work takes on a modelled host: operations, memory sweeps and copies, by where the working
// set lies. Reproduces Table VII's sequential times of the memory-bound programs.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/hw/platform.h"

namespace fairlead::hw {

struct HostWork {
  std::uint64_t ops;
  std::uint64_t bytes;
  std::uint64_t working_set_bytes;
  std::uint64_t copied_bytes;
};

// Operations (one a cycle) overlap with the sweep's cache misses: the longer of the two counts.
// A sweep that fits L2 pays L2 latency a line; one that does not pays memory latency for every
// line (a cyclic sweep of an LRU cache that is too small hits nothing). Copies come on top, at the
// machine's memcpy rate.
inline Ps work_time(const Platform& platform, const HostWork& work) {
  const bool in_l2 = work.working_set_bytes <= platform.l2_bytes;
  const Ps ops = time_for(Cycles{static_cast<std::int64_t>(work.ops)}, platform.host_clock);
  const std::uint64_t lines = (work.bytes + platform.line_bytes - 1) / platform.line_bytes;
  const Ps line = in_l2 ? platform.l2_latency : platform.memory_latency;
  const Ps sweep = line * static_cast<std::int64_t>(lines);
  const Ps copy =
      time_for(Bytes{work.copied_bytes}, in_l2 ? platform.memcpy_l2 : platform.memcpy_memory);
  return std::max(ops, sweep) + copy;
}

}  // namespace fairlead::hw
