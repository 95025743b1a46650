#include "fairlead/hw/pcix/pcix_bus.h"
#include "fairlead/hw/pcix/pcix_params.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kBusResource};
}

const PartKind PcixParams::kKind = {
    "bus", kName, [] { return std::unique_ptr<Part>(std::make_unique<PcixParams>()); }, kOwn};

std::unique_ptr<HostPath> PcixParams::make_path() const { return std::make_unique<PcixBus>(*this); }

void PcixParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"bus", "clock_MHz", 1, 1e4, hertz_from_mhz(clock)},
                       {"bus", "width_bytes", 1, 64, whole(width_bytes)},
                       {"bus", "overhead_clocks", 0, 1024, whole(overhead_clocks)},
                       {"bus", "burst_bytes", 8, 65536, whole(burst_bytes)},
                       {"bus", "read_bytes", 8, 65536, whole(read_bytes)},
                       {"bus", "reads", 1, 1024, whole(reads)},
                       {"bus", "latency_ns", 0, 1e6, ps_from_ns(latency)},
                       {"bus", "memory_read_ns", 0, 1e6, ps_from_ns(memory_read)},
                       {"bus", "store_line_ns", 0, 1e6, ps_from_ns(store_line)},
                       {"bus", "store_line_bytes", 4, 4096, whole(store_line_bytes)}});
}

void PcixParams::speed_up(Resource resource, double factor) {
  if (resource != kBusResource) return;
  faster(clock, factor);
  for (Ps* time : {&latency, &memory_read, &store_line}) shorter(*time, factor);
}

const PartKind& pcix_kind() { return PcixParams::kKind; }

}  // namespace fairlead::hw
