// Switch networks that grow with the number of hosts: grid, Clos, fat tree. Each returns the
// channels between switches that a packet passes, numbered from 0; the channels of the hosts' own
// cables are Topology's. Routes are computed, not stored: no memory per pair.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/post.h"

namespace fairlead::hw {

using ChannelId = std::uint32_t;  // one direction of one cable

// Every host on one crossbar, "s0".
class SingleSwitch {
 public:
  std::uint32_t channels() const { return 0; }
  void route(Peer, Peer, ChannelId, std::vector<ChannelId>&) const {}
  std::string switch_of(Peer) const { return "s0"; }
  std::optional<ChannelId> channel(std::string_view, std::string_view) const { return {}; }
  std::string switch_names() const { return "s0"; }
};

// A 3-D mesh of 8-port switches "s0", "s1", ..., one host each (6 ports for the neighbours), the
// most cubic one that holds the hosts; dimension-order routing. 64 hosts are 4 x 4 x 4, at most 10
// switches apart (LCI paper section 3).
class Grid {
 public:
  explicit Grid(std::uint32_t hosts);

  std::uint32_t channels() const { return switches() * 6; }
  // Appends the channels from the switch of `source` to that of `destination`, each plus `first`.
  void route(Peer source, Peer destination, ChannelId first, std::vector<ChannelId>& path) const;
  std::string switch_of(Peer host) const;
  // From one switch to the next, by their names; empty: there is no such cable.
  std::optional<ChannelId> channel(std::string_view from, std::string_view to) const;
  std::string switch_names() const;

 private:
  std::uint32_t switches() const { return side_[0] * side_[1] * side_[2]; }

  std::uint32_t side_[3] = {1, 1, 1};
};

// Leaf switches "leaf0", ... of `hosts_per_switch` hosts and as many spines "spine0", ..., each
// with a port to every leaf; the spine is chosen by the destination. Full bisection, at most 3
// switches.
class Clos {
 public:
  Clos(std::uint32_t hosts, std::uint32_t hosts_per_switch);

  std::uint32_t channels() const { return 2 * leaves_ * spines_; }
  void route(Peer source, Peer destination, ChannelId first, std::vector<ChannelId>& path) const;
  std::string switch_of(Peer host) const;
  std::optional<ChannelId> channel(std::string_view from, std::string_view to) const;
  std::string switch_names() const;

 private:
  std::uint32_t leaves_;
  std::uint32_t spines_;  // and hosts of a leaf
};

// Levels of equal switches, "s<level>.<number>" with level 0 at the hosts: `down` ports to the
// level below and `up` ports above it, as many levels as hold the hosts (an extended generalised
// fat tree; with up == down a k-ary n-tree of full bisection). A packet climbs to the nearest
// common switch, its way up chosen by the destination's digits, so that no two destinations share
// a channel downwards where up == down; up, then down, cannot deadlock.
// The switches of the highest level may have more ports down, as they need none up: with `top` = up
// + down a tree of three levels of 64-port switches holds 32 x 32 x 64 hosts. Level 0 is as it is,
// also where it is the only one.
class FatTree {
 public:
  // 1 <= up <= down, down >= 2; down <= top, or 0: as `down`.
  FatTree(std::uint32_t hosts, std::uint32_t down, std::uint32_t up, std::uint32_t top = 0);

  std::uint32_t levels() const { return static_cast<std::uint32_t>(level_.size()); }
  std::uint32_t channels() const { return 2 * cables_; }
  void route(Peer source, Peer destination, ChannelId first, std::vector<ChannelId>& path) const;
  std::string switch_of(Peer host) const;
  std::optional<ChannelId> channel(std::string_view from, std::string_view to) const;
  std::string switch_names() const;

  // --- Steps of a way that its taker chooses. A switch is named by its level, a host below it and
  // its number among the copies over the same hosts.
  std::uint32_t uplinks() const { return up_; }
  // What a switch of that level has.
  std::uint32_t ports_down(std::uint32_t level) const {
    return level > 0 && level + 1 == levels() ? top_ : down_;
  }
  // The level of the nearest switches over both.
  std::uint32_t common_level(Peer a, Peer b) const {
    std::uint32_t top = 0;
    while (a / level_[top].below != b / level_[top].below) ++top;
    return top;
  }
  std::uint64_t hosts_below(std::uint32_t level) const { return level_[level].below; }
  // The copy that port `port` of copy `copy` of a level leads to.
  std::uint64_t copy_above(std::uint32_t level, std::uint64_t copy, std::uint32_t port) const {
    return copy + port * level_[level].copies;
  }
  // The cable up from that switch through `port`; that from copy `above` of level + 1 down to the
  // switch of `level` over `host`.
  ChannelId cable_up(std::uint32_t level, Peer host, std::uint64_t copy, std::uint32_t port) const {
    const Level& at = level_[level];
    const std::uint64_t number = host / at.below * at.copies + copy;
    return at.cables + static_cast<ChannelId>(number * up_ + port);
  }
  ChannelId cable_down(std::uint32_t level, Peer host, std::uint64_t above) const {
    const std::uint64_t copies = level_[level].copies;
    return cables_ +
           cable_up(level, host, above % copies, static_cast<std::uint32_t>(above / copies));
  }
  std::uint64_t copy_below(std::uint32_t level, std::uint64_t above) const {
    return above % level_[level].copies;
  }

 private:
  struct Level {
    std::uint64_t below;     // hosts below one switch: down^(level + 1), or with `top` ports
    std::uint64_t copies;    // switches over the same hosts: up^level
    std::uint32_t switches;  // of this level
    std::uint32_t cables;    // the number of its first cable upwards
  };
  struct Place {
    std::uint32_t level;
    std::uint32_t number;
  };
  std::optional<Place> place_of(std::string_view name) const;
  std::uint32_t up_port(Peer destination, std::uint32_t level) const;

  std::uint32_t down_;
  std::uint32_t up_;
  std::uint32_t top_;
  std::uint32_t cables_ = 0;  // between switches
  std::vector<Level> level_;
};

}  // namespace fairlead::hw
