#include "fairlead/hw/custom_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace fairlead::hw {

std::optional<std::uint32_t> CustomNetwork::find(std::string_view name) const {
  const auto found = std::find(switches_.begin(), switches_.end(), name);
  if (found == switches_.end()) return {};
  return static_cast<std::uint32_t>(found - switches_.begin());
}

std::shared_ptr<const CustomNetwork> CustomNetwork::faster(double factor) const {
  std::shared_ptr<CustomNetwork> made(new CustomNetwork(*this));
  const auto scale = [factor](ChannelTraits& traits) {
    const double rate = static_cast<double>(traits.rate.count) * factor;
    if (traits.rate.count > 0) {
      traits.rate.count =
          std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(rate)));
    }
    traits.delay.count = std::llround(static_cast<double>(traits.delay.count) / factor);
  };
  for (ChannelTraits& traits : made->traits_) scale(traits);
  for (Host& host : made->hosts_) scale(host.traits);
  return made;
}

std::optional<ChannelId> CustomNetwork::channel(std::string_view from, std::string_view to) const {
  const auto a = find(from);
  const auto b = find(to);
  if (!a || !b) return {};
  for (const Exit& exit : exits_[*a]) {
    if (exit.to == *b) return exit.first;
  }
  return {};
}

std::string CustomNetwork::switch_names() const {
  constexpr std::size_t kShown = 16;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, size()); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", switches_[i]);
  }
  if (size() > kShown) names += fmt::format(" and {} more", size() - kShown);
  return names;
}

// The root of the tree is the switch with the most exits, the first of them in the file. An exit
// leads up where it comes nearer to the root, or stays as far and comes to an earlier switch: an
// order, so that no cycle of channels can wait for itself.
std::optional<std::uint32_t> CustomNetwork::level_switches() {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto root = static_cast<std::uint32_t>(
      std::max_element(exits_.begin(), exits_.end(), fewer) - exits_.begin());
  std::vector<std::uint32_t> level(size(), UINT32_MAX);
  std::deque<std::uint32_t> next = {root};
  level[root] = 0;
  while (!next.empty()) {
    const std::uint32_t at = next.front();
    next.pop_front();
    for (const Exit& exit : exits_[at]) {
      if (level[exit.to] != UINT32_MAX) continue;
      level[exit.to] = level[at] + 1;
      next.push_back(exit.to);
    }
  }
  for (std::uint32_t at = 0; at < size(); ++at) {
    if (level[at] == UINT32_MAX) return at;
    for (Exit& exit : exits_[at]) {
      exit.up = std::pair(level[exit.to], exit.to) < std::pair(level[at], at);
    }
  }
  return {};
}

void CustomNetwork::make_routes() {
  for (auto& table : exit_to_) table.assign(size() * size(), 0);
  std::vector<std::uint32_t> distance(2 * size());
  for (std::uint32_t to = 0; to < size(); ++to) make_routes_to(to, distance);
}

// Breadth first from the destination, backwards over the states (switch, phase): a climbing packet
// takes an exit up and climbs on, or one down and descends; a descending one takes exits down.
void CustomNetwork::make_routes_to(std::uint32_t destination,
                                   std::vector<std::uint32_t>& distance) {
  const auto state = [this](Phase phase, std::uint32_t at) { return phase * size() + at; };
  std::fill(distance.begin(), distance.end(), UINT32_MAX);
  std::deque<std::pair<Phase, std::uint32_t>> next;
  const auto reach = [&](Phase phase, std::uint32_t at, std::uint32_t far) {
    if (distance[state(phase, at)] != UINT32_MAX) return;
    distance[state(phase, at)] = far;
    next.emplace_back(phase, at);
  };
  reach(kDescending, destination, 0);
  reach(kClimbing, destination, 0);
  while (!next.empty()) {
    const auto [phase, at] = next.front();
    next.pop_front();
    const std::uint32_t far = distance[state(phase, at)] + 1;
    for (const Exit& back : exits_[at]) {
      // Its other direction leads down to here where this one leads up.
      const bool comes_down = back.up;
      if (comes_down && phase == kDescending) {
        reach(kDescending, back.to, far);
        reach(kClimbing, back.to, far);
      } else if (!comes_down && phase == kClimbing) {
        reach(kClimbing, back.to, far);
      }
    }
  }
  std::vector<std::uint16_t> good;
  for (const Phase phase : {kClimbing, kDescending}) {
    for (std::uint32_t at = 0; at < size(); ++at) {
      if (at == destination || distance[state(phase, at)] == UINT32_MAX) continue;
      good.clear();
      for (std::size_t i = 0; i < exits_[at].size(); ++i) {
        const Exit& exit = exits_[at][i];
        if (exit.up && phase == kDescending) continue;
        const std::uint32_t rest = distance[state(exit.up ? kClimbing : kDescending, exit.to)];
        if (rest != UINT32_MAX && rest + 1 == distance[state(phase, at)]) {
          good.push_back(static_cast<std::uint16_t>(i));
        }
      }
      exit_to(phase, at, destination) = good[destination % good.size()];
    }
  }
}

void CustomNetwork::route(Peer source, Peer destination, ChannelId first,
                          std::vector<ChannelId>& path) const {
  Phase phase = kClimbing;
  const std::uint32_t end = hosts_[destination].at;
  for (std::uint32_t at = hosts_[source].at; at != end;) {
    const Exit& exit = exits_[at][exit_to_[phase][at * size() + end]];
    path.push_back(first + exit.first + destination % exit.cables);
    if (!exit.up) phase = kDescending;
    at = exit.to;
  }
}

}  // namespace fairlead::hw
