#include "fairlead/hw/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace fairlead::hw {
namespace {

using Path = std::vector<ChannelId>;

Path route(const Topology& topology, Peer source, Peer destination) {
  Path path;
  topology.route(source, destination, path);
  return path;
}

// A wormhole holds the channels behind it while it asks for the next: no cycle in "asks for after"
// means no deadlock (Dally and Seitz).
bool free_of_cycles(const Topology& topology) {
  std::vector<std::set<ChannelId>> after(topology.channels());
  std::vector<std::uint32_t> before(topology.channels(), 0);
  for (Peer s = 0; s < topology.nodes(); ++s) {
    for (Peer d = 0; d < topology.nodes(); ++d) {
      if (s == d) continue;
      const Path path = route(topology, s, d);
      for (std::size_t i = 1; i < path.size(); ++i) {
        if (after[path[i - 1]].insert(path[i]).second) ++before[path[i]];
      }
    }
  }
  std::vector<ChannelId> free;
  for (ChannelId c = 0; c < topology.channels(); ++c) {
    if (before[c] == 0) free.push_back(c);
  }
  std::size_t sorted = 0;
  for (; !free.empty(); ++sorted) {
    const ChannelId channel = free.back();
    free.pop_back();
    for (ChannelId next : after[channel]) {
      if (--before[next] == 0) free.push_back(next);
    }
  }
  return sorted == topology.channels();
}

TEST(Topology, GridRoutesFollowTheDimensions) {
  const Topology grid(TopologyKind::grid, 64, 1);
  std::uint32_t longest = 0;
  for (Peer s = 0; s < 64; ++s) {
    for (Peer d = 0; d < 64; ++d) {
      if (s == d) continue;
      const Path path = route(grid, s, d);
      // Expect: from the source's channel to the destination's
      ASSERT_EQ(path.front(), s);
      ASSERT_EQ(path.back(), 64 + d);
      Peer at = s;
      std::uint32_t last_dimension = 0;
      for (std::size_t i = 1; i + 1 < path.size(); ++i) {
        const std::uint32_t link = path[i] - 2 * 64;
        // Expect: each channel leaves the switch the one before led to
        ASSERT_EQ(link / 6, at);
        const std::uint32_t dimension = link % 6 / 2;
        // Expect: x before y before z
        ASSERT_GE(dimension, last_dimension);
        last_dimension = dimension;
        const Peer stride = dimension == 0 ? 1 : dimension == 1 ? 4 : 16;
        at = link % 2 == 0 ? at + stride : at - stride;
        ASSERT_LT(at, 64u);
      }
      ASSERT_EQ(at, d);
      longest = std::max(longest, grid.switches(s, d));
    }
  }
  // Expect: 4 x 4 x 4, at most 10 switches apart (LCI paper section 3)
  EXPECT_EQ(longest, 10u);
  EXPECT_EQ(grid.switches(0, 1), 2u);
  EXPECT_EQ(grid.switches(0, 63), 10u);
}

TEST(Topology, NoRoutingCanDeadlock) {
  for (const std::uint32_t nodes : {2u, 10u, 27u, 64u}) {
    EXPECT_TRUE(free_of_cycles(Topology(TopologyKind::grid, nodes, 1))) << nodes;
    EXPECT_TRUE(free_of_cycles(Topology(TopologyKind::clos, nodes, 8))) << nodes;
    EXPECT_TRUE(free_of_cycles(Topology(TopologyKind::single_switch, nodes, 8))) << nodes;
  }
}

TEST(Topology, ClosHasOneOrThreeSwitches) {
  const Topology clos(TopologyKind::clos, 64, 8);
  for (Peer s = 0; s < 64; ++s) {
    for (Peer d = 0; d < 64; ++d) {
      if (s == d) continue;
      // Expect: one leaf within it, leaf, spine and leaf between two
      ASSERT_EQ(clos.switches(s, d), s / 8 == d / 8 ? 1u : 3u);
    }
  }
  // Expect: the destination decides the spine
  for (Peer s = 1; s < 8; ++s) EXPECT_EQ(route(clos, s, 21)[1], route(clos, 0, 21)[1]);
  EXPECT_NE(route(clos, 0, 20)[1], route(clos, 0, 21)[1]);
}

TEST(Topology, ClosHasFullBisection) {
  const Topology clos(TopologyKind::clos, 64, 8);
  std::set<ChannelId> used;
  for (Peer s = 0; s < 64; ++s) {
    for (ChannelId channel : route(clos, s, (s + 24) % 64)) {
      // Expect: leaf i sends to leaf i + 3 and no channel is shared
      EXPECT_TRUE(used.insert(channel).second) << "channel " << channel;
    }
  }
}

TEST(Topology, MeanPartnerIsAsFarAsTheMean) {
  // Expect: 1 + 3.81 switches on the mean of the grid, so the first node 5 away: (3, 1, 0)
  EXPECT_EQ(Topology(TopologyKind::grid, 64, 1).mean_partner(), 7u);
  // Expect: 2.78 on the mean, the first node of the next leaf
  EXPECT_EQ(Topology(TopologyKind::clos, 64, 8).mean_partner(), 8u);
  EXPECT_EQ(Topology(TopologyKind::single_switch, 2, 8).mean_partner(), 1u);
}

}  // namespace
}  // namespace fairlead::hw
