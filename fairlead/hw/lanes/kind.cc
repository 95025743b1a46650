#include "fairlead/hw/lanes/host_lanes.h"
#include "fairlead/hw/lanes/lanes_params.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kBusResource};
}

const PartKind LanesParams::kKind = {
    "bus", kName, [] { return std::unique_ptr<Part>(std::make_unique<LanesParams>()); }, kOwn};

std::unique_ptr<HostPath> LanesParams::make_path() const {
  return std::make_unique<HostLanes>(*this);
}

void LanesParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"bus", "lane_MBps", 1, 1e6, rate_from_mb(rate)},
                       {"bus", "payload_bytes", 8, 65536, whole(payload_bytes)},
                       {"bus", "overhead_bytes", 0, 4096, whole(overhead_bytes)},
                       {"bus", "latency_ns", 0, 1e6, ps_from_ns(latency)},
                       {"bus", "memory_read_ns", 0, 1e6, ps_from_ns(memory_read)},
                       {"bus", "store_line_ns", 0, 1e6, ps_from_ns(store_line)},
                       {"bus", "store_line_bytes", 4, 4096, whole(store_line_bytes)}});
}

void LanesParams::speed_up(Resource resource, double factor) {
  if (resource != kBusResource) return;
  faster(rate, factor);
  for (Ps* time : {&latency, &memory_read, &store_line}) shorter(*time, factor);
}

const PartKind& lanes_kind() { return LanesParams::kKind; }

}  // namespace fairlead::hw
