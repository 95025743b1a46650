// What work takes on a modelled host: operations, memory sweeps and copies, by where the working
// set lies. Reproduces Table VII's sequential times of the memory-bound programs.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/hw/host_params.h"

namespace fairlead::hw {

struct HostWork {
  std::uint64_t ops;
  std::uint64_t bytes;
  std::uint64_t working_set_bytes;
  std::uint64_t copied_bytes;
  std::uint64_t page_faults = 0;
  std::uint64_t protections = 0;
};

// The numbers of a host that time its own work, fixed-width: what a rank in a process of its own is
// told.
struct HostRates {
  explicit HostRates(const HostParams& host)
      : clock(host.clock),
        l2_bytes(host.l2_bytes),
        line_bytes(host.line_bytes),
        reorder_ops(host.reorder_ops),
        memory_latency(host.memory_latency),
        open_row(host.open_row),
        l2_latency(host.l2_latency),
        memcpy_memory(host.memcpy_memory),
        memcpy_l2(host.memcpy_l2),
        interrupt(host.interrupt),
        watchdog(host.watchdog),
        page_fault(host.page_fault),
        protection(host.protection) {}

  Hertz clock;
  std::uint64_t l2_bytes;
  std::uint64_t line_bytes;
  std::uint64_t reorder_ops;
  Ps memory_latency;
  Ps open_row;
  Ps l2_latency;
  BytesPerSec memcpy_memory;
  BytesPerSec memcpy_l2;
  Ps interrupt;
  Ps watchdog;
  Ps page_fault;
  Ps protection;
};

// A sweep over more than L2 holds misses at every line (a cyclic sweep of an LRU cache that is too
// small hits nothing). What a miss costs beside the operations on the line, one a cycle, depends on
// how far the processor looks ahead:
// - with fewer operations a line than it holds in flight it finds the next line's load while this
//   one is under way. Misses follow each other at the memory's pace, one latency a line, which
//   hides the operations: the longer of the two counts (SOR of the LCI paper);
// - with more, everything in flight waits for this line, and nothing hides either: operations and
//   a line of an open memory row add up (ASP, QR and LEQ there).
inline Ps sweep_time(const HostRates& host, const HostWork& work, Ps ops, std::uint64_t lines) {
  const auto count = static_cast<std::int64_t>(lines);
  const Ps overlapped = std::max(ops, host.memory_latency * count);
  if (work.ops < host.reorder_ops * lines) return overlapped;
  return std::max(overlapped, ops + host.open_row * count);
}

// A sweep that fits L2 pays L2 latency a line, hidden by the operations or hiding them. Copies come
// on top, at the machine's memcpy rate, and what the operating system does about pages.
inline Ps work_time(const HostRates& host, const HostWork& work) {
  const bool in_l2 = work.working_set_bytes <= host.l2_bytes;
  const Ps ops = time_for(Cycles{static_cast<std::int64_t>(work.ops)}, host.clock);
  const std::uint64_t lines = (work.bytes + host.line_bytes - 1) / host.line_bytes;
  const Ps sweep = in_l2 ? std::max(ops, host.l2_latency * static_cast<std::int64_t>(lines))
                         : sweep_time(host, work, ops, lines);
  const Ps copy = time_for(Bytes{work.copied_bytes}, in_l2 ? host.memcpy_l2 : host.memcpy_memory);
  return sweep + copy + host.page_fault * static_cast<std::int64_t>(work.page_faults) +
         host.protection * static_cast<std::int64_t>(work.protections);
}

// Every byte copied is read and written.
constexpr std::uint64_t kMovedByCopy = 2;

// What the work moves between memory and the processor, in bytes: nothing within L2.
inline std::uint64_t moved_bytes(const HostRates& host, const HostWork& work) {
  if (work.working_set_bytes <= host.l2_bytes) return 0;
  return work.bytes + kMovedByCopy * work.copied_bytes;
}

inline Ps work_time(const HostParams& host, const HostWork& work) {
  return work_time(HostRates(host), work);
}

}  // namespace fairlead::hw
