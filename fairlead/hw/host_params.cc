#include "fairlead/hw/host_params.h"

namespace fairlead::hw {

void HostParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"host", "clock_MHz", 1, 1e5, hertz_from_mhz(clock)},
                       {"host", "l2_KiB", 1, 1e6,
                        [this](double kib) { l2_bytes = static_cast<std::uint64_t>(kib * 1024); }},
                       {"host", "line_bytes", 8, 4096, whole(line_bytes)},
                       {"host", "memory_latency_ns", 1, 1e6, ps_from_ns(memory_latency)},
                       {"host", "open_row_ns", 1, 1e6, ps_from_ns(open_row)},
                       {"host", "reorder_ops", 0, 1e6, whole(reorder_ops)},
                       {"host", "l2_latency_ns", 0.1, 1e6, ps_from_ns(l2_latency)},
                       {"host", "memcpy_memory_MBps", 1, 1e7, rate_from_mb(memcpy_memory)},
                       {"host", "memcpy_l2_MBps", 1, 1e7, rate_from_mb(memcpy_l2)},
                       {"host", "memory_MBps", 1, 1e7, rate_from_mb(memory), true},
                       {"host", "interrupt_us", 0, 1e4, ps_from_us(interrupt)},
                       {"host", "watchdog_us", 0, 1e6, ps_from_us(watchdog)},
                       {"host", "page_fault_us", 0, 1e4, ps_from_us(page_fault), true},
                       {"host", "protection_us", 0, 1e4, ps_from_us(protection), true},
                       {"host", "processors", 1, 1024, whole(processors), true},
                       {"host", "handler", kAutomatic, kOther, whole(handler), true}});
}

void HostParams::speed_up(double factor) {
  faster(clock, factor);
  faster(memcpy_memory, factor);
  faster(memcpy_l2, factor);
  if (memory.count > 0) faster(memory, factor);
  for (Ps* time : {&memory_latency, &open_row, &l2_latency, &interrupt, &page_fault, &protection})
    shorter(*time, factor);
}

}  // namespace fairlead::hw
