#include "fairlead/hw/branches.h"

#include <algorithm>

#include "fairlead/base/check.h"

namespace fairlead::hw {

BranchingSwitches::BranchingSwitches(const FatTree& tree, std::uint32_t hosts) : tree_(tree) {
  for (std::uint32_t level = 0; level < tree.levels(); ++level) {
    first_.push_back(count_);
    const std::uint64_t below = tree.hosts_below(level);
    count_ += static_cast<std::uint32_t>((hosts + below - 1) / below);
  }
}

// Level by level, so that the children of one branch follow each other.
Branches::Branches(const Topology& topology, const BranchingSwitches& switches, Peer first,
                   Peer last) {
  const FatTree* const tree = topology.ordered_fat_tree();
  FAIRLEAD_CHECK(tree != nullptr && first < last, "hosts {} to {}", first, last);
  root_level = tree->common_level(first, last);
  root = switches.over(root_level, first);
  // Appends what leaves a switch of `level` over `from` within the range.
  const auto leave = [&](std::uint32_t level, Peer from) {
    std::uint32_t count = 0;
    const std::uint64_t each = level == 0 ? 1 : tree->hosts_below(level - 1);
    const std::uint64_t begin = from / tree->hosts_below(level) * tree->hosts_below(level);
    for (std::uint32_t port = 0; port < tree->ports_down(level); ++port) {
      const std::uint64_t low = begin + port * each;
      if (low > last || low + each <= first) continue;
      const auto host = static_cast<Peer>(std::max<std::uint64_t>(low, first));
      Branch branch{};
      branch.host = host;  // for now: one below it
      if (level == 0) {
        branch.channel = topology.channel_to_host(host);
      } else {
        branch.channel = topology.first_between_switches() + tree->cable_down(level - 1, host, 0);
        branch.branching = switches.over(level - 1, host);
      }
      all.push_back(branch);
      ++count;
    }
    return count;
  };
  from_root = leave(root_level, first);
  std::size_t begin = 0;
  for (std::uint32_t level = root_level; level > 0; --level) {
    const std::size_t end = all.size();
    for (std::size_t i = begin; i < end; ++i) {
      const auto child = static_cast<std::uint32_t>(all.size());
      const std::uint32_t children = leave(level - 1, all[i].host);
      all[i].first_child = child;
      all[i].children = children;
      all[i].host = Branch::kNone;
    }
    begin = end;
  }
}

}  // namespace fairlead::hw
