#include "fairlead/hw/network_params.h"

#include "fairlead/hw/custom_network.h"

namespace fairlead::hw {

void NetworkParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"network", "link_MBps", 1, 1e6, rate_from_mb(link)},
                       {"network", "switch_us", 0, 1e3, ps_from_us(switch_delay)},
                       {"network", "fixed_us", 0, 1e3, ps_from_us(fixed)},
                       {"network", "header_bytes", 1, 4096, whole(header_bytes)},
                       {"network", "hosts_per_switch", 1, 4096, whole(hosts_per_switch)},
                       // Without it as many as hosts_per_switch.
                       {"network", "uplinks_per_switch", 1, 4096, whole(uplinks_per_switch), true},
                       {"network", "top_downlinks", 0, 8192, whole(top_downlinks), true},
                       {"network", "nodes", 1, 1e6, whole(nodes)},
                       {"network", "host_order", 0, 1e9, whole(host_order), true},
                       {"network", "held_circuits", 0, 1, whole(held_circuits), true},
                       {"network", "virtual_channels", 1, 4, whole(virtual_channels), true},
                       {"network", "adaptive_ascent", 0, 1, whole(adaptive_ascent), true},
                       {"network", "cable_us", 0, 1e3, ps_from_us(cable), true},
                       {"network", "age_us", 0, 1e3, ps_from_us(age), true},
                       {"network", "buffer_bytes", 0, 1e9, whole(buffer_bytes), true},
                       {"network", "reduction_bytes", 0, 65536, whole(reduction_bytes), true},
                       {"network", "reduction_us", 0, 1e3, ps_from_us(reduction), true},
                       {"network", "reduction_MBps", 1, 1e8, rate_from_mb(reduction_rate), true},
                       {"network", "reductions_ahead", 1, 1024, whole(reductions_ahead), true}});
}

void NetworkParams::speed_up(double factor) {
  faster(link, factor);
  if (reduction_rate.count > 0) faster(reduction_rate, factor);
  for (Ps* time : {&switch_delay, &fixed, &cable, &reduction}) shorter(*time, factor);
  if (custom != nullptr) custom = custom->faster(factor);
}

}  // namespace fairlead::hw
