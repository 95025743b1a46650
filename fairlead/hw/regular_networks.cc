#include "fairlead/hw/regular_networks.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/numbers.h"

namespace fairlead::hw {
namespace {

// The number in "<word><number>", below `end`.
std::optional<std::uint32_t> numbered(std::string_view name, std::string_view word,
                                      std::uint32_t end) {
  if (!name.starts_with(word)) return {};
  name.remove_prefix(word.size());
  const auto number = whole_number<std::uint32_t>(name);
  return number && *number < end ? number : std::nullopt;
}

}  // namespace

Grid::Grid(std::uint32_t hosts) {
  while (switches() < hosts) {
    std::uint32_t shortest = 0;
    for (std::uint32_t d = 1; d < 3; ++d) {
      if (side_[d] < side_[shortest]) shortest = d;
    }
    ++side_[shortest];
  }
}

// The channel of switch s towards larger numbers of dimension d is 6 s + 2 d, the other one after.
void Grid::route(Peer source, Peer destination, ChannelId first,
                 std::vector<ChannelId>& path) const {
  std::uint32_t at = source;
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::uint32_t to = destination / stride % side_[d];
    for (std::uint32_t here = at / stride % side_[d]; here != to;) {
      const bool up = to > here;
      path.push_back(first + at * 6 + 2 * d + (up ? 0 : 1));
      at = up ? at + stride : at - stride;
      here = up ? here + 1 : here - 1;
    }
    stride *= side_[d];
  }
}

std::string Grid::switch_of(Peer host) const { return fmt::format("s{}", host); }

std::optional<ChannelId> Grid::channel(std::string_view from, std::string_view to) const {
  const auto a = numbered(from, "s", switches());
  const auto b = numbered(to, "s", switches());
  if (!a || !b) return {};
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::uint32_t place = *a / stride % side_[d];
    if (place + 1 < side_[d] && *b == *a + stride) return *a * 6 + 2 * d;
    if (place > 0 && *b + stride == *a) return *a * 6 + 2 * d + 1;
    stride *= side_[d];
  }
  return {};
}

std::string Grid::switch_names() const {
  return fmt::format("s0 to s{}, {} x {} x {}", switches() - 1, side_[0], side_[1], side_[2]);
}

Clos::Clos(std::uint32_t hosts, std::uint32_t hosts_per_switch)
    : leaves_((hosts + hosts_per_switch - 1) / hosts_per_switch), spines_(hosts_per_switch) {}

// Leaf l to spine s is l * spines + s; the way back that plus leaves * spines.
void Clos::route(Peer source, Peer destination, ChannelId first,
                 std::vector<ChannelId>& path) const {
  const std::uint32_t from = source / spines_;
  const std::uint32_t to = destination / spines_;
  if (from == to) return;
  const std::uint32_t spine = destination % spines_;
  path.push_back(first + from * spines_ + spine);
  path.push_back(first + (leaves_ + to) * spines_ + spine);
}

std::string Clos::switch_of(Peer host) const { return fmt::format("leaf{}", host / spines_); }

std::optional<ChannelId> Clos::channel(std::string_view from, std::string_view to) const {
  if (const auto leaf = numbered(from, "leaf", leaves_)) {
    const auto spine = numbered(to, "spine", spines_);
    return spine ? std::optional(*leaf * spines_ + *spine) : std::nullopt;
  }
  const auto spine = numbered(from, "spine", spines_);
  const auto leaf = numbered(to, "leaf", leaves_);
  if (!spine || !leaf) return {};
  return (leaves_ + *leaf) * spines_ + *spine;
}

std::string Clos::switch_names() const {
  return fmt::format("leaf0 to leaf{}, spine0 to spine{}", leaves_ - 1, spines_ - 1);
}

FatTree::FatTree(std::uint32_t hosts, std::uint32_t down, std::uint32_t up, std::uint32_t top)
    : down_(down), up_(up), top_(top == 0 ? down : top) {
  FAIRLEAD_CHECK(down >= 2 && up >= 1 && up <= down && top_ >= down,
                 "{} ports down, {} up, {} at the top", down, up, top_);
  std::uint64_t below = down;
  std::uint64_t copies = 1;
  std::uint64_t cables = 0;
  for (;; below *= down, copies *= up) {
    // The highest level: below what a switch of `down` ports holds, so many times.
    if (!level_.empty() && level_.back().below * top_ >= hosts) below = level_.back().below * top_;
    const std::uint64_t switches = (hosts + below - 1) / below * copies;
    level_.push_back(
        {below, copies, static_cast<std::uint32_t>(switches), static_cast<std::uint32_t>(cables)});
    if (below >= hosts) break;
    cables += switches * up;
  }
  FAIRLEAD_CHECK(cables < UINT32_MAX / 4, "{} cables", cables);
  cables_ = static_cast<std::uint32_t>(cables);
}

// Digit `level` of the destination: with up == down the switches above differ in that digit too.
std::uint32_t FatTree::up_port(Peer destination, std::uint32_t level) const {
  return static_cast<std::uint32_t>(destination / (level_[level].below / down_) % up_);
}

// Switch number a * copies + b of a level is the b-th over the a-th group of hosts. Its cable up
// through port c leads to number (a / ports) * (copies * up) + b + c * copies of the next level,
// which has so many ports down, so
// that a switch below is found again by b modulo copies.
void FatTree::route(Peer source, Peer destination, ChannelId first,
                    std::vector<ChannelId>& path) const {
  std::uint32_t top = 0;
  while (source / level_[top].below != destination / level_[top].below) ++top;
  std::uint64_t b = 0;
  for (std::uint32_t l = 0; l < top; ++l) {
    const Level& level = level_[l];
    const std::uint32_t port = up_port(destination, l);
    const std::uint64_t number = source / level.below * level.copies + b;
    path.push_back(first + level.cables + static_cast<ChannelId>(number * up_ + port));
    b += port * level.copies;
  }
  for (std::uint32_t l = top; l-- > 0;) {
    const Level& level = level_[l];
    b %= level.copies;
    const std::uint64_t number = destination / level.below * level.copies + b;
    path.push_back(first + cables_ + level.cables +
                   static_cast<ChannelId>(number * up_ + up_port(destination, l)));
  }
}

std::string FatTree::switch_of(Peer host) const { return fmt::format("s0.{}", host / down_); }

std::optional<FatTree::Place> FatTree::place_of(std::string_view name) const {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const auto level = numbered(name.substr(0, dot), "s", levels());
  if (!level) return {};
  const auto number = numbered(name.substr(dot + 1), "", level_[*level].switches);
  if (!number) return {};
  return Place{*level, *number};
}

std::optional<ChannelId> FatTree::channel(std::string_view from, std::string_view to) const {
  auto lower = place_of(from);
  auto upper = place_of(to);
  if (!lower || !upper) return {};
  const bool upwards = lower->level < upper->level;
  if (!upwards) std::swap(lower, upper);
  if (lower->level + 1 != upper->level) return {};
  const Level& below = level_[lower->level];
  const Level& above = level_[upper->level];
  const std::uint64_t a = lower->number / below.copies;
  const std::uint64_t b = lower->number % below.copies;
  const std::uint64_t upper_b = upper->number % above.copies;
  if (a / ports_down(upper->level) != upper->number / above.copies || upper_b % below.copies != b)
    return {};
  const auto port = static_cast<std::uint32_t>(upper_b / below.copies);
  return (upwards ? 0 : cables_) + below.cables + lower->number * up_ + port;
}

std::string FatTree::switch_names() const {
  std::string names;
  for (std::uint32_t l = 0; l < levels(); ++l) {
    names += fmt::format("{}s{}.0 to s{}.{}", l == 0 ? "" : ", ", l, l, level_[l].switches - 1);
  }
  return names;
}

}  // namespace fairlead::hw
