// Who is wired to whom, and whom the wiring has no place for.
#include "fairlead/hw/firelink/wiring.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::hw {
namespace {

FirelinkParams params(std::uint32_t nis, std::uint32_t links, std::uint32_t switches) {
  FirelinkParams made;
  made.nis = nis;
  made.links = links;
  made.switches = switches;
  made.ports = 8;
  return made;
}

std::string refusal(const FirelinkParams& params, std::uint32_t nodes) {
  const Result<void> answer = FirelinkWiring::check(params, nodes);
  return answer.ok() ? "" : answer.error().text;
}

TEST(FirelinkWiring, TwoHostsShareAllLinks) {
  const FirelinkParams two = params(2, 2, 0);
  const FirelinkWiring wiring(two, 2);
  for (const Peer from : {0u, 1u}) {
    const auto ways = wiring.ways(from, 1 - from);
    ASSERT_EQ(ways.size(), 4u);
    for (std::uint32_t link = 0; link < 4; ++link) {
      EXPECT_EQ(ways[link].out, link);
      EXPECT_EQ(ways[link].in, link);
    }
  }
}

TEST(FirelinkWiring, ThreeHostsHaveALinkOfEachInterfaceToEachOther) {
  const FirelinkParams two = params(2, 2, 0);
  const FirelinkWiring wiring(two, 3);
  for (Peer from = 0; from < 3; ++from) {
    std::set<std::uint32_t> used;
    for (Peer to = 0; to < 3; ++to) {
      if (from == to) continue;
      const auto ways = wiring.ways(from, to);
      // Expect: one by each interface, so that either may fail; the other end says the same.
      ASSERT_EQ(ways.size(), 2u) << from << " to " << to;
      EXPECT_NE(ways[0].out / 2, ways[1].out / 2);
      for (const auto& way : ways) {
        used.insert(way.out);
        EXPECT_EQ(wiring.other_end(to, way.in).host, from);
        EXPECT_EQ(wiring.other_end(to, way.in).link, way.out);
      }
    }
    EXPECT_EQ(used.size(), 4u);
  }
}

TEST(FirelinkWiring, SwitchesGiveEveryPairEveryLink) {
  const FirelinkParams four = params(2, 2, 4);
  const FirelinkWiring wiring(four, 8);
  EXPECT_EQ(wiring.ways(0, 7).size(), 4u);
  EXPECT_EQ(wiring.ways(6, 5).size(), 4u);
}

TEST(FirelinkWiring, WhatHasNoPlaceIsNamed) {
  EXPECT_EQ(refusal(params(2, 2, 4), 8), "");
  // Expect: the ninth host of a switch
  EXPECT_NE(refusal(params(2, 2, 4), 9).find("host 9 has no place"), std::string::npos)
      << refusal(params(2, 2, 4), 9);
  // Expect: with all links at one switch there is room for two hosts
  EXPECT_EQ(refusal(params(2, 2, 1), 2), "");
  EXPECT_NE(refusal(params(2, 2, 1), 3).find("at most 2 hosts"), std::string::npos);
  // Expect: the fourth without a switch
  EXPECT_EQ(refusal(params(2, 2, 0), 3), "");
  EXPECT_NE(refusal(params(2, 2, 0), 4).find("at most 3"), std::string::npos);
  EXPECT_NE(refusal(params(1, 1, 0), 3).find("cannot be shared"), std::string::npos);
  EXPECT_NE(refusal(params(1, 1, 2), 2).find("a host has 1 links"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::hw
