#include "fairlead/hw/topology.h"

#include <numeric>
#include <optional>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/numbers.h"
#include "fairlead/base/prng.h"

namespace fairlead::hw {
namespace {

std::optional<std::uint32_t> host_number(std::string_view text) {
  return whole_number<std::uint32_t>(text);
}

}  // namespace

Topology::Switches Topology::switches_of(const NetworkParams& params, std::uint32_t nodes) {
  FAIRLEAD_CHECK(nodes >= 1 && params.hosts_per_switch >= 1, "{} nodes, {} a switch", nodes,
                 params.hosts_per_switch);
  switch (params.topology) {
    case TopologyKind::grid:
      return Grid(nodes);
    case TopologyKind::clos:
      return Clos(nodes, params.hosts_per_switch);
    case TopologyKind::fat_tree:
      return FatTree(nodes, params.hosts_per_switch, params.uplinks_per_switch,
                     params.top_downlinks);
    case TopologyKind::custom:
      return params.custom;
    default:
      return SingleSwitch();
  }
}

Result<void> Topology::check_nodes(const NetworkParams& params, std::uint32_t nodes) {
  if (params.topology != TopologyKind::custom) return {};
  const std::uint32_t hosts = params.custom->hosts();
  if (nodes <= hosts) return {};
  return Error{fmt::format("{}: the network has {} hosts and cannot carry {} nodes", params.file,
                           hosts, nodes)};
}

Topology::Topology(const NetworkParams& params, std::uint32_t nodes)
    : nodes_(nodes), hosts_(nodes), network_(switches_of(params, nodes)), channels_(0) {
  if (params.topology == TopologyKind::custom) {
    hosts_ = params.custom->hosts();
    has_traits_ = params.custom->has_traits();
    FAIRLEAD_CHECK(nodes <= hosts_, "{} nodes, {} hosts", nodes, hosts_);
  }
  channels_ = 2 * hosts_ + with([](const auto& network) { return network.channels(); });
  if (params.host_order == 0) return;
  Prng order(params.host_order);
  places_.resize(nodes);
  std::iota(places_.begin(), places_.end(), Peer{0});
  for (Peer left = nodes; left > 1; --left) {
    std::swap(places_[left - 1], places_[order.below(left)]);
  }
}

void Topology::route(Peer source, Peer destination, std::vector<ChannelId>& path) const {
  FAIRLEAD_DCHECK(source != destination && source < nodes_ && destination < nodes_, "{} to {}",
                  source, destination);
  path.clear();
  path.push_back(source);
  with([&](const auto& network) {
    network.route(place(source), place(destination), 2 * hosts_, path);
  });
  path.push_back(hosts_ + destination);
}

std::uint32_t Topology::switches(Peer source, Peer destination) const {
  std::vector<ChannelId> path;
  route(source, destination, path);
  return static_cast<std::uint32_t>(path.size()) - 1;
}

const ChannelTraits& Topology::traits(ChannelId channel) const {
  const CustomNetwork& network = *std::get<std::shared_ptr<const CustomNetwork>>(network_);
  if (channel >= 2 * hosts_) return network.traits(channel - 2 * hosts_);
  return network.host_traits(channel % hosts_);
}

Result<std::array<ChannelId, 2>> Topology::cable(std::string_view a, std::string_view b) const {
  const auto of_host = [&](std::string_view host,
                           std::string_view other) -> std::optional<std::array<ChannelId, 2>> {
    const auto number = host_number(host);
    if (!number || *number >= nodes_) return {};
    const std::string attached =
        with([&](const auto& network) { return network.switch_of(place(*number)); });
    if (!other.empty() && other != attached) return {};
    return std::array<ChannelId, 2>{*number, hosts_ + *number};
  };
  if (const auto cable = of_host(a, b)) return *cable;
  if (const auto cable = of_host(b, a)) return *cable;
  const auto there = with([&](const auto& network) { return network.channel(a, b); });
  const auto back = with([&](const auto& network) { return network.channel(b, a); });
  if (there && back) return std::array<ChannelId, 2>{2 * hosts_ + *there, 2 * hosts_ + *back};
  const std::string switches = with([](const auto& network) { return network.switch_names(); });
  return Error{fmt::format("there is no cable {}{}{}; nodes are 0 to {}, switches {}", a,
                           b.empty() ? "" : "-", b, nodes_ - 1, switches)};
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
