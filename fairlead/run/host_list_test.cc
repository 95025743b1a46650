#include "fairlead/run/host_list.h"

#include <gtest/gtest.h>

namespace fairlead::run {
namespace {

std::string shown(const Result<std::vector<HostSlots>>& hosts) {
  if (!hosts.ok()) return "error: " + hosts.error().text;
  std::string text;
  for (const HostSlots& host : hosts.value()) {
    text += host.name + "=" + std::to_string(host.ranks) + " ";
  }
  return text;
}

TEST(HostList, NamesWithAndWithoutRanks) {
  EXPECT_EQ(shown(parse_hosts("a:2,b")), "a=2 b=1 ");
  EXPECT_EQ(shown(parse_hosts("me@node-1.site, 10.0.0.7:16")), "me@node-1.site=1 10.0.0.7=16 ");
  // Expect: the colons of an address are not its ranks'
  EXPECT_EQ(shown(parse_hosts("[fe80::1]:4,[::1]")), "fe80::1=4 ::1=1 ");
}

TEST(HostList, WhatDoesNotReadIsNamed) {
  for (const char* wrong : {"", "a,,b", "a:0", "a:x", "a:-1", "a:99999999999", ":2", "a b", "a;b",
                            "-oProxyCommand=x", "$(x)", "a:2:", "a,"}) {
    // Expect: no list, and advice
    EXPECT_NE(shown(parse_hosts(wrong)).find("error: '"), std::string::npos) << wrong;
  }
}

TEST(HostList, Files) {
  EXPECT_EQ(shown(parse_hostfile("# ours\na slots=2\n\n  b:3 # big\nc")), "a=2 b=3 c=1 ");
  EXPECT_EQ(shown(parse_hostfile("a\nb cpus=2\n")),
            "error: line 2: 'cpus=2': write slots=RANKS after a host");
  EXPECT_EQ(shown(parse_hostfile("# nobody\n")), "error: names no host");
  EXPECT_NE(shown(read_hostfile("/nowhere/hosts")).find("/nowhere/hosts"), std::string::npos);
}

TEST(HostList, RanksFillHostAfterHost) {
  const std::vector<HostSlots> hosts = parse_hosts("a:2,b:3,c").value();
  EXPECT_EQ(slots_of(hosts), 6u);
  EXPECT_EQ(shown(place_ranks(hosts, 6)), "a=2 b=3 c=1 ");
  EXPECT_EQ(shown(place_ranks(hosts, 3)), "a=2 b=1 ");
  EXPECT_EQ(shown(place_ranks(hosts, 2)), "a=2 ");
  // Expect: never more than a host has room for
  EXPECT_NE(shown(place_ranks(hosts, 7)).find("room for 6 ranks and not for 7"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::run
