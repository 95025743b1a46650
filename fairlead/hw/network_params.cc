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
                       {"network", "nodes", 1, 1e6, whole(nodes)},
                       {"network", "host_order", 0, 1e9, whole(host_order), true},
                       {"network", "held_circuits", 0, 1, whole(held_circuits), true},
                       {"network", "virtual_channels", 1, 4, whole(virtual_channels), true},
                       {"network", "adaptive_ascent", 0, 1, whole(adaptive_ascent), true},
                       {"network", "cable_us", 0, 1e3, ps_from_us(cable), true},
                       {"network", "age_us", 0, 1e3, ps_from_us(age), true},
                       {"network", "buffer_bytes", 0, 1e9, whole(buffer_bytes), true}});
}

void NetworkParams::speed_up(double factor) {
  faster(link, factor);
  for (Ps* time : {&switch_delay, &fixed, &cable}) shorter(*time, factor);
  if (custom != nullptr) custom = custom->faster(factor);
}

}  // namespace fairlead::hw
