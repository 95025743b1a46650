// A switch network as a file lists it: hosts, switches, and the cables between them with their own
// speeds and lengths. Routes are shortest among those that go up, then down (up*/down* routing of
// Autonet, over the levels of a breadth-first tree), so that wormholes cannot deadlock in any
// network; where several are as short the destination decides.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/regular_networks.h"

namespace fairlead::hw {

// How a channel differs from the platform's [network].
struct ChannelTraits {
  BytesPerSec rate{};  // 0: the platform's
  Ps delay{};          // the head takes so much longer to its end
};

// The file:
//
//   description = "two switches"
//   switches = ["left", "right"]
//   [[link]]
//   from = "0-7"        # hosts: a number, or a range; or a switch's name
//   to = "left"
//   [[link]]
//   from = "left"
//   to = "right"
//   cables = 4          # parallel ones; 1 if not given
//   MBps = 80           # the platform's link_MBps if not given
//   us = 0.5            # further delay; 0 if not given
class CustomNetwork {
 public:
  // Routing keeps 4 bytes per pair of switches.
  static constexpr std::size_t kSwitchesMax = 4096;
  static constexpr std::uint32_t kHostsMax = 1u << 20;
  static constexpr std::uint32_t kCablesMax = 256;

  // Error: file, line, key and reason, also for a host or switch that nothing connects.
  static Result<std::shared_ptr<const CustomNetwork>> load(const std::string& file);

  std::uint32_t hosts() const { return static_cast<std::uint32_t>(hosts_.size()); }
  std::uint32_t channels() const { return static_cast<std::uint32_t>(traits_.size()); }
  void route(Peer source, Peer destination, ChannelId first, std::vector<ChannelId>& path) const;
  std::string switch_of(Peer host) const { return switches_[hosts_[host].at]; }
  std::optional<ChannelId> channel(std::string_view from, std::string_view to) const;
  std::string switch_names() const;

  // The traits of a channel between switches, and of a host's cable (both directions).
  const ChannelTraits& traits(ChannelId channel) const { return traits_[channel]; }
  const ChannelTraits& host_traits(Peer host) const { return hosts_[host].traits; }
  // As above, with cables so many times as fast.
  std::shared_ptr<const CustomNetwork> faster(double factor) const;

  // False: every cable is as the platform says.
  bool has_traits() const { return has_traits_; }

 private:
  friend class NetworkReader;
  struct Host {
    std::uint32_t at = UINT32_MAX;  // its switch
    ChannelTraits traits;
  };
  // Cables from one switch to another: channels first .. first + cables - 1.
  struct Exit {
    std::uint32_t to;
    ChannelId first;
    std::uint32_t cables;
    bool up = false;  // towards the root of the tree
  };
  // What a packet may still do; a table of exits for each.
  enum Phase : std::uint8_t { kClimbing, kDescending };

  CustomNetwork() = default;
  std::size_t size() const { return switches_.size(); }
  // Marks the exits that lead up. A switch that cannot be reached from the first, or nothing.
  std::optional<std::uint32_t> level_switches();
  void make_routes();
  void make_routes_to(std::uint32_t destination, std::vector<std::uint32_t>& distance);
  std::uint16_t& exit_to(Phase phase, std::uint32_t from, std::uint32_t destination) {
    return exit_to_[phase][from * size() + destination];
  }
  std::optional<std::uint32_t> find(std::string_view name) const;

  std::vector<Host> hosts_;
  std::vector<std::string> switches_;
  std::vector<std::vector<Exit>> exits_;  // of each switch, in the file's order
  std::vector<ChannelTraits> traits_;
  bool has_traits_ = false;
  std::array<std::vector<std::uint16_t>, 2> exit_to_;  // index into exits_[from]
};

}  // namespace fairlead::hw
