// Which channels a packet passes on its way: the switch networks of the modelled machines. Routing
// is fixed by (source, destination) and free of cycles, so that wormholes cannot deadlock.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/hw/custom_network.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/regular_networks.h"

namespace fairlead::hw {

// A machine's network: the hosts' cables (channels 0 .. hosts-1 to the switches, the next as many
// back), and between them one of the switch networks, which grow with the number of nodes; a custom
// one is as large as its file says.
class Topology {
 public:
  // At most as many nodes as check_nodes() allows.
  Topology(const NetworkParams& params, std::uint32_t nodes);
  // Error: the network has fewer hosts than `nodes`.
  static Result<void> check_nodes(const NetworkParams& params, std::uint32_t nodes);

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t channels() const { return channels_; }
  // Channels from NI to NI in order; source != destination. switches passed = length - 1.
  void route(Peer source, Peer destination, std::vector<ChannelId>& path) const;
  std::uint32_t switches(Peer source, Peer destination) const;
  // The partner of node 0 whose distance is nearest the mean over all pairs: what a two-node
  // benchmark of the whole machine uses.
  Peer mean_partner() const;

  // False: every channel is as the platform's [network] says, and traits() is not to be asked.
  bool has_traits() const { return has_traits_; }
  const ChannelTraits& traits(ChannelId channel) const;

  // Where packets choose their way up: the fat tree, if it is one whose hosts are in order, and the
  // number of its first cable. Else nullptr.
  const FatTree* ordered_fat_tree() const {
    return places_.empty() ? std::get_if<FatTree>(&network_) : nullptr;
  }
  ChannelId first_between_switches() const { return 2 * hosts_; }
  ChannelId channel_to_host(Peer node) const { return hosts_ + node; }

  // Both directions of the cable between two ends, each a node's number or a switch's name; an
  // empty `b`: of node `a`'s own. Error: what the switches are called.
  Result<std::array<ChannelId, 2>> cable(std::string_view a, std::string_view b) const;

 private:
  using Switches =
      std::variant<SingleSwitch, Grid, Clos, FatTree, std::shared_ptr<const CustomNetwork>>;
  static Switches switches_of(const NetworkParams& params, std::uint32_t nodes);
  // Calls `use` with the switch network.
  template <class Use>
  auto with(Use&& use) const {
    return std::visit(
        [&](const auto& network) {
          if constexpr (requires { *network; }) {
            return use(*network);
          } else {
            return use(network);
          }
        },
        network_);
  }

  std::uint32_t nodes_;
  std::uint32_t hosts_;  // cables of hosts; more than nodes where a custom network has more
  // Where in a regular network a node's switch is.
  Peer place(Peer node) const { return places_.empty() ? node : places_[node]; }

  Switches network_;
  std::vector<Peer> places_;  // empty: in the nodes' order
  std::uint32_t channels_;
  bool has_traits_ = false;
};

}  // namespace fairlead::hw
