// The way of a multicast packet through a fat tree: up to one switch, its root, from there on to
// every host of a range. The root is the leftmost switch of the lowest level that spans the range,
// and every branch goes down through the leftmost switches (Quadrics paper, section 2.3.1, figure
// 4; which switch where the range is a part of the tree is not said there).
//
// A multicast takes each switch that it branches in for itself, from above to below, and keeps it
// until its end of packet has passed: two of them, nested or not, never fork in one switch at once.
// So who waits for a switch waits for a packet that only needs what lies further down, and who
// waits for a link waits for a packet that is further on its way: nobody waits in a circle.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/hw/topology.h"

namespace fairlead::hw {

// All switches that multicasts branch in: copy 0 of each level over some hosts.
class BranchingSwitches {
 public:
  BranchingSwitches(const FatTree& tree, std::uint32_t hosts);
  std::uint32_t count() const { return count_; }
  std::uint32_t over(std::uint32_t level, Peer host) const {
    return first_[level] + static_cast<std::uint32_t>(host / tree_.hosts_below(level));
  }

 private:
  const FatTree& tree_;
  std::vector<std::uint32_t> first_;  // by level
  std::uint32_t count_ = 0;
};

struct Branch {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  ChannelId channel;
  std::uint32_t first_child = kNone;  // they follow each other; kNone: it leads to a host
  std::uint32_t children = 0;
  std::uint32_t branching = kNone;  // the switch that it leads to
  Peer host = kNone;
};

// The part below the root, for one range of hosts.
struct Branches {
  Branches(const Topology& topology, const BranchingSwitches& switches, Peer first, Peer last);

  std::uint32_t root_level = 0;
  std::uint32_t root = 0;       // of the branching switches
  std::uint32_t from_root = 0;  // the first so many of `all` leave the root
  std::vector<Branch> all;
};

}  // namespace fairlead::hw
