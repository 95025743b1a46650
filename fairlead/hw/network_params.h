// [network] of a platform file: links and switches, and how they lie between the nodes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/keys.h"

namespace fairlead::hw {

class CustomNetwork;

enum class TopologyKind : std::uint8_t { grid, clos, fat_tree, single_switch, custom };

struct NetworkParams {
  BytesPerSec link{};
  Ps switch_delay{};
  Ps fixed{};                      // NI staging, (de)serialisation
  std::uint32_t header_bytes = 0;  // route, type, LCI header and CRC of a packet on the wire
  TopologyKind topology = TopologyKind::single_switch;
  std::uint32_t hosts_per_switch = 0;
  std::uint32_t uplinks_per_switch = 0;  // of a fat tree
  // Ports down of the switches of a fat tree's highest level, which need none up; at most as many
  // as others have in both directions. 0: as hosts_per_switch.
  std::uint32_t top_downlinks = 0;
  std::uint32_t nodes = 0;  // of the published machine
  // In which order nodes are numbered over a regular network's places: 0 along it, else a random
  // order, of which this is the seed.
  std::uint32_t host_order = 0;

  // --- Links whose packets hold a circuit until they are acknowledged (circuits.h); the defaults
  // are wormholes that hold what their length covers.
  bool held_circuits = false;
  std::uint32_t virtual_channels = 1;  // of each link and direction
  bool adaptive_ascent = false;        // a fat tree's: the least loaded way up
  Ps cable{};                          // one cable
  Ps age{};                            // who has waited so long comes before higher priorities
  // --- Links with a buffer of so many bytes at the end of each (buffered_links.h); 0: wormholes.
  std::uint64_t buffer_bytes = 0;
  // --- Switches of a fat tree that combine operands (switch_reductions.h).
  std::uint32_t reduction_bytes = 0;   // largest operand of one packet; 0: they combine nothing
  Ps reduction{};                      // from a switch's last operand to what it makes of them
  BytesPerSec reduction_rate{};        // of the operands that come to one switch, all together
  std::uint32_t reductions_ahead = 1;  // packets of one reduction that a host has under way
  // Only with TopologyKind::custom:
  std::string file;
  std::shared_ptr<const CustomNetwork> custom;

  void add_keys(std::vector<Key>& to);
  void speed_up(double factor);
};

}  // namespace fairlead::hw
