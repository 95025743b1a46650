#include "fairlead/hw/fireplane/fireplane_params.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kBusResource};
}

const PartKind FireplaneParams::kKind = {
    "bus", kName, [] { return std::unique_ptr<Part>(std::make_unique<FireplaneParams>()); }, kOwn};

void FireplaneParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"bus", "ni_path_MBps", 1, 1e6, rate_from_mb(ni_path)},
                       {"bus", "latency_ns", 0, 1e6, ps_from_ns(latency)},
                       {"bus", "memory_write_ns", 0, 1e6, ps_from_ns(memory_write)},
                       {"bus", "look_ns", 0, 1e6, ps_from_ns(look)},
                       {"bus", "memory_read_ns", 0, 1e6, ps_from_ns(memory_read)},
                       {"bus", "store_line_ns", 0.1, 1e6, ps_from_ns(store_line)},
                       {"bus", "stores_ahead", 32, 65536, whole(stores_ahead)},
                       {"bus", "near_line_ns", 0, 1e6, ps_from_ns(near_line)}});
}

void FireplaneParams::speed_up(Resource resource, double factor) {
  if (resource != kBusResource) return;
  faster(ni_path, factor);
  for (Ps* time : {&latency, &memory_write, &look, &memory_read, &store_line, &near_line}) {
    shorter(*time, factor);
  }
}

const PartKind& fireplane_kind() { return FireplaneParams::kKind; }

}  // namespace fairlead::hw
