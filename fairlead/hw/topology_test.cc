#include "fairlead/hw/topology.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

using Path = std::vector<ChannelId>;

Topology make(TopologyKind kind, std::uint32_t nodes, std::uint32_t hosts_per_switch,
              std::uint32_t uplinks = 0) {
  Platform platform = round_platform();
  platform.network.topology = kind;
  platform.network.hosts_per_switch = hosts_per_switch;
  platform.network.uplinks_per_switch = uplinks == 0 ? hosts_per_switch : uplinks;
  return {platform.network, nodes};
}

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

Topology shuffled(TopologyKind kind, std::uint32_t nodes, std::uint32_t order) {
  Platform platform = round_platform();
  platform.network.topology = kind;
  platform.network.hosts_per_switch = 4;
  platform.network.uplinks_per_switch = 4;
  platform.network.host_order = order;
  return {platform.network, nodes};
}

TEST(Topology, ARandomOrderOfHostsMovesThemOverTheSamePlaces) {
  for (const TopologyKind kind : {TopologyKind::grid, TopologyKind::clos, TopologyKind::fat_tree}) {
    const Topology in_order = shuffled(kind, 60, 0);
    const Topology other = shuffled(kind, 60, 7);
    std::map<std::size_t, int> lengths;
    bool differ = false;
    for (Peer s = 0; s < 60; ++s) {
      for (Peer d = 0; d < 60; ++d) {
        if (s == d) continue;
        const Path path = route(other, s, d);
        // Expect: each node keeps its own cable, wherever its switch is.
        ASSERT_EQ(path.front(), s);
        ASSERT_EQ(path.back(), 60 + d);
        ++lengths[path.size()];
        --lengths[route(in_order, s, d).size()];
        differ = differ || path != route(in_order, s, d);
      }
    }
    // Expect: other routes, as many of each length, and still no deadlock; the same for a seed.
    EXPECT_TRUE(differ);
    for (const auto& [length, more] : lengths) EXPECT_EQ(more, 0) << length;
    EXPECT_TRUE(free_of_cycles(other));
    EXPECT_EQ(route(other, 3, 50), route(shuffled(kind, 60, 7), 3, 50));
    EXPECT_NE(route(other, 3, 50), route(shuffled(kind, 60, 8), 3, 50));
    // Expect: a cable is found by the switch that its host is at.
    EXPECT_TRUE(other.cable("17", "").ok());
  }
}

TEST(Topology, GridRoutesFollowTheDimensions) {
  const Topology grid = make(TopologyKind::grid, 64, 1);
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
    EXPECT_TRUE(free_of_cycles(make(TopologyKind::grid, nodes, 1))) << nodes;
    EXPECT_TRUE(free_of_cycles(make(TopologyKind::clos, nodes, 8))) << nodes;
    EXPECT_TRUE(free_of_cycles(make(TopologyKind::single_switch, nodes, 8))) << nodes;
    EXPECT_TRUE(free_of_cycles(make(TopologyKind::fat_tree, nodes, 4))) << nodes;
    EXPECT_TRUE(free_of_cycles(make(TopologyKind::fat_tree, nodes, 4, 3))) << nodes;
    EXPECT_TRUE(free_of_cycles(make(TopologyKind::fat_tree, nodes, 3, 1))) << nodes;
  }
}

TEST(Topology, ClosHasOneOrThreeSwitches) {
  const Topology clos = make(TopologyKind::clos, 64, 8);
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
  const Topology clos = make(TopologyKind::clos, 64, 8);
  std::set<ChannelId> used;
  for (Peer s = 0; s < 64; ++s) {
    for (ChannelId channel : route(clos, s, (s + 24) % 64)) {
      // Expect: leaf i sends to leaf i + 3 and no channel is shared
      EXPECT_TRUE(used.insert(channel).second) << "channel " << channel;
    }
  }
}

// Both ends of every cable by the names of their switches, so that a route can be walked.
using Ends = std::map<ChannelId, std::pair<std::string, std::string>>;

Ends ends_of(const Topology& topology, const std::vector<std::string>& switches) {
  Ends ends;
  std::vector<std::string> names = switches;
  for (Peer host = 0; host < topology.nodes(); ++host) names.push_back(std::to_string(host));
  for (const std::string& a : names) {
    for (const std::string& b : names) {
      const auto cable = topology.cable(a, b);
      if (a == b || !cable.ok()) continue;
      // A host's cable is named outwards whichever end comes first.
      const bool host_last = b[0] >= '0' && b[0] <= '9';
      const auto out = host_last ? std::pair(b, a) : std::pair(a, b);
      ends[cable.value()[0]] = out;
      ends[cable.value()[1]] = {out.second, out.first};
    }
  }
  return ends;
}

// Every route goes from its source to its destination, each channel from where the last led.
void expect_connected(const Topology& topology, const Ends& ends) {
  for (Peer s = 0; s < topology.nodes(); ++s) {
    for (Peer d = 0; d < topology.nodes(); ++d) {
      if (s == d) continue;
      std::string at = std::to_string(s);
      for (const ChannelId channel : route(topology, s, d)) {
        ASSERT_LT(channel, topology.channels());
        const auto found = ends.find(channel);
        ASSERT_NE(found, ends.end()) << "channel " << channel << " of " << s << " to " << d;
        ASSERT_EQ(found->second.first, at) << "from " << s << " to " << d;
        at = found->second.second;
      }
      ASSERT_EQ(at, std::to_string(d));
    }
  }
}

std::vector<std::string> numbered(const std::string& word, std::uint32_t count) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) names.push_back(word + std::to_string(i));
  return names;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Topology, EveryRouteIsAWayOverItsCables) {
  const Topology grid = make(TopologyKind::grid, 22, 1);  // 3 x 3 x 3, not full
  expect_connected(grid, ends_of(grid, numbered("s", 27)));
  const Topology clos = make(TopologyKind::clos, 21, 4);
  expect_connected(clos, ends_of(clos, numbered("leaf", 6) + numbered("spine", 4)));
  const Topology tree = make(TopologyKind::fat_tree, 50, 4);
  expect_connected(tree,
                   ends_of(tree, numbered("s0.", 13) + numbered("s1.", 16) + numbered("s2.", 16)));
  const Topology slim = make(TopologyKind::fat_tree, 27, 3, 2);
  expect_connected(slim,
                   ends_of(slim, numbered("s0.", 9) + numbered("s1.", 6) + numbered("s2.", 4)));
}

TEST(Topology, AFatTreeGrowsByLevels) {
  // Expect: 4, 16 and 64 hosts below a switch of level 0, 1 and 2
  const Topology tree = make(TopologyKind::fat_tree, 64, 4);
  for (Peer s = 0; s < 64; ++s) {
    for (Peer d = 0; d < 64; ++d) {
      if (s == d) continue;
      ASSERT_EQ(tree.switches(s, d), s / 4 == d / 4 ? 1u : s / 16 == d / 16 ? 3u : 5u);
    }
  }
  EXPECT_EQ(make(TopologyKind::fat_tree, 65, 4).switches(0, 64), 7u);
  EXPECT_EQ(make(TopologyKind::fat_tree, 4, 4).switches(0, 3), 1u);
  // Expect: memory grows with the hosts, not with their pairs
  const Topology large = make(TopologyKind::fat_tree, 100'000, 8);
  EXPECT_EQ(large.switches(0, 99'999), 11u);
  EXPECT_LT(large.channels(), 13u * 100'000);
}

TEST(Topology, AFatTreeHasFullBisection) {
  const Topology tree = make(TopologyKind::fat_tree, 64, 4);
  for (const Peer shift : {1u, 5u, 32u, 63u}) {
    std::set<ChannelId> used;
    for (Peer s = 0; s < 64; ++s) {
      for (const ChannelId channel : route(tree, s, (s + shift) % 64)) {
        // Expect: no two of 64 senders share a channel
        EXPECT_TRUE(used.insert(channel).second) << "channel " << channel << ", shift " << shift;
      }
    }
  }
  // Expect: half the uplinks, half the bisection: each channel of the top serves two senders
  const Topology slim = make(TopologyKind::fat_tree, 64, 4, 2);
  std::map<ChannelId, int> uses;
  for (Peer s = 0; s < 64; ++s) {
    for (const ChannelId channel : route(slim, s, (s + 32) % 64)) ++uses[channel];
  }
  int most = 0;
  for (const auto& [channel, count] : uses) most = std::max(most, count);
  EXPECT_EQ(most, 4);  // two levels of half the cables each
}

Topology wide_at_the_top(std::uint32_t nodes, std::uint32_t half) {
  Platform platform = round_platform();
  platform.network.topology = TopologyKind::fat_tree;
  platform.network.hosts_per_switch = platform.network.uplinks_per_switch = half;
  platform.network.top_downlinks = 2 * half;
  return {platform.network, nodes};
}

TEST(Topology, TheTopOfAFatTreeMayUseAllItsPortsDownwards) {
  // Expect: switches of 64 ports hold 2,048 hosts in two levels and 65,536 in three
  EXPECT_EQ(wide_at_the_top(2048, 32).switches(0, 2047), 3u);
  EXPECT_EQ(wide_at_the_top(2049, 32).switches(0, 2048), 5u);
  const Topology large = wide_at_the_top(65'536, 32);
  EXPECT_EQ(large.ordered_fat_tree()->levels(), 3u);
  EXPECT_EQ(large.switches(0, 65'535), 5u);
  EXPECT_EQ(large.switches(0, 1023), 3u);
  // Expect: a cable a host between levels, each way: as many as the hosts' own
  EXPECT_EQ(large.channels(), 3u * 2 * 65'536);
  // Expect: 64 cables to each of the 1,024 switches of the top
  std::map<std::uint64_t, int> cables;
  const FatTree& tree = *large.ordered_fat_tree();
  for (Peer host = 0; host < 65'536; host += 1024) {
    for (std::uint64_t copy = 0; copy < 32; ++copy) {
      for (std::uint32_t port = 0; port < 32; ++port) ++cables[tree.copy_above(1, copy, port)];
    }
  }
  ASSERT_EQ(cables.size(), 1024u);
  for (const auto& [copy, count] : cables) ASSERT_EQ(count, 64) << copy;
}

TEST(Topology, ATreeThatIsWideAtTheTopHasFullBisection) {
  // Switches of 8 ports: two levels for 32 hosts, three for 128.
  for (const std::uint32_t nodes : {32u, 128u}) {
    const Topology tree = wide_at_the_top(nodes, 4);
    if (nodes == 32) {
      EXPECT_TRUE(free_of_cycles(tree));
    }
    for (const Peer shift : {1u, 5u, nodes / 2, nodes - 1}) {
      std::set<ChannelId> used;
      for (Peer s = 0; s < nodes; ++s) {
        for (const ChannelId channel : route(tree, s, (s + shift) % nodes)) {
          // Expect: no two senders share a channel
          EXPECT_TRUE(used.insert(channel).second) << "channel " << channel << ", shift " << shift;
        }
      }
    }
    // Expect: cables are found by the names of their ends
    EXPECT_TRUE(tree.cable(nodes == 32 ? "s0.7" : "s1.31", nodes == 32 ? "s1.0" : "s2.3").ok());
  }
}

TEST(Topology, AQuaternaryTreeOfDimensionEight) {
  const Topology tree = make(TopologyKind::fat_tree, 65'536, 4);
  // Expect: n x 4^(n-1) switches (Quadrics paper, section 2.2), 15 of them from end to end
  EXPECT_EQ(tree.ordered_fat_tree()->levels(), 8u);
  EXPECT_EQ(tree.switches(0, 65'535), 15u);
  EXPECT_EQ(tree.channels(), 8u * 2 * 65'536);
  for (std::uint32_t level = 0, hosts = 4; level < 8; ++level, hosts *= 4) {
    EXPECT_EQ(tree.switches(12'345, (12'345 / hosts * hosts + (12'345 + hosts / 2) % hosts)),
              2 * level + 1);
  }
}

TEST(Topology, NamesItsCables) {
  const Topology tree = make(TopologyKind::fat_tree, 16, 4);
  // Expect: a node's own cable by its number alone, or with its switch
  EXPECT_EQ(tree.cable("5", "").value(), (std::array<ChannelId, 2>{5, 21}));
  EXPECT_EQ(tree.cable("5", "s0.1").value(), tree.cable("5", "").value());
  EXPECT_EQ(tree.cable("s0.0", "s1.2").value()[1], tree.cable("s1.2", "s0.0").value()[0]);
  for (const auto& [a, b] : {std::pair("s0.0", "s0.1"), std::pair("5", "s0.0"), std::pair("16", ""),
                             std::pair("leaf0", "spine0")}) {
    const auto wrong = tree.cable(a, b);
    ASSERT_FALSE(wrong.ok()) << a << " " << b;
    EXPECT_NE(wrong.error().text.find("nodes are 0 to 15, switches s0.0 to s0.3, s1.0 to s1.3"),
              std::string::npos)
        << wrong.error().text;
  }
}

// A network that a test writes down.
class CustomNetworkTest : public testing::Test {
 protected:
  ~CustomNetworkTest() override { std::filesystem::remove(file_); }

  Result<std::shared_ptr<const CustomNetwork>> load(const std::string& text) const {
    std::ofstream(file_) << text;
    return CustomNetwork::load(file_);
  }
  Topology topology(const std::string& text) const {
    auto loaded = load(text);
    Platform platform = round_platform();
    platform.network.topology = TopologyKind::custom;
    platform.network.custom = loaded.value();
    return {platform.network, platform.network.custom->hosts()};
  }
  std::string error(const std::string& text) const {
    const auto loaded = load(text);
    if (loaded.ok()) return "loaded";
    const std::string& what = loaded.error().text;
    return what.starts_with(file_) ? what.substr(file_.size() + 1) : what;
  }

  std::string file_ =
      testing::TempDir() + "fairlead-network-" + std::to_string(::getpid()) + ".toml";
};

TEST_F(CustomNetworkTest, ARingIsFreeOfCycles) {
  const Topology ring = topology(
      "description = 'a ring'\n"
      "switches = ['a', 'b', 'c', 'd', 'e']\n"
      "link = [{from = '0-1', to = 'a'}, {from = 2, to = 'b'}, {from = 'c', to = 3},\n"
      "  {from = 4, to = 'd'}, {from = 5, to = 'e'}, {from = 'a', to = 'b'},\n"
      "  {from = 'b', to = 'c'}, {from = 'c', to = 'd'}, {from = 'd', to = 'e', cables = 2},\n"
      "  {from = 'e', to = 'a'}]\n");
  EXPECT_EQ(ring.nodes(), 6u);
  EXPECT_TRUE(free_of_cycles(ring));
  // Expect: neighbours reach each other over one cable, also where the ring closes
  EXPECT_EQ(ring.switches(0, 1), 1u);
  EXPECT_EQ(ring.switches(0, 5), 2u);
  EXPECT_EQ(ring.switches(4, 5), 2u);
  // Expect: the parallel cable is the destination's choice
  EXPECT_NE(route(ring, 3, 5), route(ring, 3, 4));
}

TEST_F(CustomNetworkTest, RandomNetworksAreConnectedAndFreeOfCycles) {
  Prng random(11);
  for (int round = 0; round < 20; ++round) {
    const auto count = static_cast<std::uint32_t>(2 + random.below(14));
    std::string text = "description = 'random'\nswitches = [";
    for (std::uint32_t s = 0; s < count; ++s) text += fmt::format("'s{}', ", s);
    text += "]\n";
    for (std::uint32_t s = 0; s < count; ++s) {
      text += fmt::format("[[link]]\nfrom = '{}-{}'\nto = 's{}'\n", 2 * s, 2 * s + 1, s);
    }
    std::set<std::pair<std::uint64_t, std::uint64_t>> joined;
    for (std::uint32_t s = 1; s < count; ++s) joined.emplace(random.below(s), s);
    for (std::uint32_t more = 0; more < count; ++more) {
      const std::uint64_t a = random.below(count);
      const std::uint64_t b = random.below(count);
      if (a != b) joined.emplace(std::min(a, b), std::max(a, b));
    }
    for (const auto& [a, b] : joined) {
      text += fmt::format("[[link]]\nfrom = 's{}'\nto = 's{}'\n", a, b);
    }
    const Topology made = topology(text);
    EXPECT_TRUE(free_of_cycles(made)) << text;
    std::vector<std::string> names;
    for (std::uint32_t s = 0; s < count; ++s) names.push_back(fmt::format("s{}", s));
    expect_connected(made, ends_of(made, names));
  }
}

TEST_F(CustomNetworkTest, ALinkMayHaveItsOwnSpeedAndLength) {
  const Topology two = topology(
      "description = 'two'\nswitches = ['a', 'b']\n[[link]]\nfrom = 0\nto = 'a'\n"
      "[[link]]\nfrom = 1\nto = 'b'\nus = 2\n[[link]]\nfrom = 'a'\nto = 'b'\nMBps = 5\n");
  ASSERT_TRUE(two.has_traits());
  EXPECT_EQ(two.traits(0).rate.count, 0u);
  EXPECT_EQ(two.traits(1).delay, microseconds(2));
  EXPECT_EQ(two.traits(3).delay, microseconds(2));
  EXPECT_EQ(two.traits(two.cable("a", "b").value()[0]).rate.count, 5'000'000u);
}

TEST_F(CustomNetworkTest, WhatIsWrongIsNamed) {
  const std::string head = "description = 'x'\nswitches = ['a', 'b']\n";
  const auto link = [](const std::string& from, const std::string& to, const std::string& more) {
    return fmt::format("[[link]]\nfrom = {}\nto = {}\n{}", from, to, more);
  };
  const std::string joined = head + link("'a'", "'b'", "");
  EXPECT_EQ(error("switches = ['a']\n"),
            "1: description: missing; a text that says which network this is");
  EXPECT_EQ(error("description = 'x'\nswitches = ['a', 'a']\n"), "2: switches: 'a' is there twice");
  EXPECT_EQ(error("description = 'x'\nswitches = ['7']\n"),
            "2: switches: a name is a letter and up to 63 letters, digits, '_' or '.'");
  EXPECT_EQ(error(head + "hosts = 4\n"),
            "3: hosts: unknown; valid: description, switches, [[link]]");
  EXPECT_EQ(error(joined + link("0", "'c'", "")), "8: link.to: 'c' is not in switches");
  EXPECT_EQ(error(joined + link("0", "'a'", "speed = 3\n")),
            "9: link.speed: unknown key; valid in [[link]]: from, to, cables, MBps, us");
  EXPECT_EQ(error(joined + link("'0-1'", "'a'", "") + link("1", "'b'", "")),
            "9: link: host 1 is attached to 'a' in line 6 already");
  EXPECT_EQ(error(joined + link("'b'", "'a'", "")),
            "6: link: 'b' and 'a' are joined in line 3 already; parallel cables are one [[link]] "
            "with cables = N");
  EXPECT_EQ(error(joined + link("0", "1", "")),
            "6: link: joins hosts with hosts; a host's cable ends at a switch");
  EXPECT_EQ(error(joined + link("'1-2'", "'a'", "")), "3: link: host 0 is not attached, of 0 to 2");
  EXPECT_EQ(error(head + link("'0-3'", "'a'", "")),
            "2: switches: no link leads to 'b' from the others");
  EXPECT_EQ(error(joined + link("'0-'", "'a'", "")),
            "7: link.from: '0-' is no range of hosts like \"0-7\"");
  EXPECT_EQ(error(joined + link("0", "'a'", "MBps = 0\n")),
            "9: link.MBps: must be a number, 0.001 to 1000000");
  EXPECT_EQ(error(head), "1: link: no [[link]]");
}

TEST(Topology, MeanPartnerIsAsFarAsTheMean) {
  // Expect: 1 + 3.81 switches on the mean of the grid, so the first node 5 away: (3, 1, 0)
  EXPECT_EQ(make(TopologyKind::grid, 64, 1).mean_partner(), 7u);
  // Expect: 2.78 on the mean, the first node of the next leaf
  EXPECT_EQ(make(TopologyKind::clos, 64, 8).mean_partner(), 8u);
  EXPECT_EQ(make(TopologyKind::single_switch, 2, 8).mean_partner(), 1u);
}

}  // namespace
}  // namespace fairlead::hw
