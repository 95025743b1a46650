#include "fairlead/hw/topology.h"

#include "fairlead/base/check.h"

namespace fairlead::hw {

// Channel numbering: 0..n-1 host to switch, n..2n-1 switch to host, then switch to switch.
Topology::Topology(TopologyKind kind, std::uint32_t nodes, std::uint32_t hosts_per_switch)
    : kind_(kind), nodes_(nodes), hosts_per_switch_(hosts_per_switch) {
  FAIRLEAD_CHECK(nodes >= 1 && hosts_per_switch >= 1, "{} nodes, {} a switch", nodes,
                 hosts_per_switch);
  channels_ = 2 * nodes;
  if (kind == TopologyKind::grid) {
    // The most cubic grid that holds the nodes.
    while (side_[0] * side_[1] * side_[2] < nodes) {
      std::uint32_t shortest = 0;
      for (std::uint32_t d = 1; d < 3; ++d) {
        if (side_[d] < side_[shortest]) shortest = d;
      }
      ++side_[shortest];
    }
    channels_ += side_[0] * side_[1] * side_[2] * 6;
  } else if (kind == TopologyKind::clos) {
    leaves_ = (nodes + hosts_per_switch - 1) / hosts_per_switch;
    channels_ += 2 * leaves_ * hosts_per_switch;
  }
}

void Topology::route(Peer source, Peer destination, std::vector<ChannelId>& path) const {
  FAIRLEAD_DCHECK(source != destination && source < nodes_ && destination < nodes_, "{} to {}",
                  source, destination);
  path.clear();
  path.push_back(source);
  if (kind_ == TopologyKind::grid) {
    grid_route(source, destination, path);
  } else if (kind_ == TopologyKind::clos) {
    const std::uint32_t from = source / hosts_per_switch_;
    const std::uint32_t to = destination / hosts_per_switch_;
    if (from != to) {
      const std::uint32_t spine = destination % hosts_per_switch_;
      path.push_back(2 * nodes_ + from * hosts_per_switch_ + spine);
      path.push_back(2 * nodes_ + (leaves_ + to) * hosts_per_switch_ + spine);
    }
  }
  path.push_back(nodes_ + destination);
}

void Topology::grid_route(Peer source, Peer destination, std::vector<ChannelId>& path) const {
  std::uint32_t at = source;
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::uint32_t to = destination / stride % side_[d];
    for (std::uint32_t here = at / stride % side_[d]; here != to;) {
      const bool up = to > here;
      path.push_back(2 * nodes_ + at * 6 + 2 * d + (up ? 0 : 1));
      at = up ? at + stride : at - stride;
      here = up ? here + 1 : here - 1;
    }
    stride *= side_[d];
  }
}

std::uint32_t Topology::switches(Peer source, Peer destination) const {
  std::vector<ChannelId> path;
  route(source, destination, path);
  return static_cast<std::uint32_t>(path.size()) - 1;
}

Peer Topology::mean_partner() const {
  if (nodes_ < 3) return nodes_ - 1;
  std::uint64_t total = 0;
  const Peer sources = nodes_ < 64 ? nodes_ : 64;  // enough for the mean of a regular network
  std::uint64_t pairs = 0;
  for (Peer s = 0; s < sources; ++s) {
    for (Peer d = 0; d < nodes_; ++d) {
      if (s == d) continue;
      total += switches(s, d);
      ++pairs;
    }
  }
  Peer best = 1;
  std::uint64_t best_error = UINT64_MAX;
  for (Peer d = 1; d < nodes_; ++d) {
    const std::uint64_t scaled = switches(0, d) * pairs;
    const std::uint64_t error = scaled > total ? scaled - total : total - scaled;
    if (error < best_error) {
      best = d;
      best_error = error;
    }
  }
  return best;
}

}  // namespace fairlead::hw
