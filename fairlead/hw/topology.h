// Which channels a packet passes on its way: the switch networks of the modelled machines. Routing
// is fixed by (source, destination) and free of cycles, so that wormholes cannot deadlock.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/hw/platform.h"

namespace fairlead::hw {

using ChannelId = std::uint32_t;  // one direction of one link

// - grid: a 3-D mesh of 8-port switches, one host each (6 ports for the neighbours),
// dimension-order
//   routing; 64 nodes are 4 x 4 x 4, at most 10 switches apart (LCI paper section 3).
// - clos: leaf switches of `hosts_per_switch` hosts and as many spines, the spine chosen by the
//   destination; full bisection, at most 3 switches (the P3 platform).
// - single switch: every host on one crossbar.
class Topology {
 public:
  Topology(TopologyKind kind, std::uint32_t nodes, std::uint32_t hosts_per_switch);

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t channels() const { return channels_; }
  // Channels from NI to NI in order; source != destination. switches passed = length - 1.
  void route(Peer source, Peer destination, std::vector<ChannelId>& path) const;
  std::uint32_t switches(Peer source, Peer destination) const;
  // The partner of node 0 whose distance is nearest the mean over all pairs: what a two-node
  // benchmark of the whole machine uses.
  Peer mean_partner() const;

 private:
  void grid_route(Peer source, Peer destination, std::vector<ChannelId>& path) const;

  TopologyKind kind_;
  std::uint32_t nodes_;
  std::uint32_t hosts_per_switch_;
  std::uint32_t side_[3] = {1, 1, 1};
  std::uint32_t leaves_ = 0;
  std::uint32_t channels_ = 0;
};

}  // namespace fairlead::hw
