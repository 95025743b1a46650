#include "fairlead/run/hosts/node_messages.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fairlead::run {
namespace {

AgentSetup some_setup() {
  AgentSetup setup;
  setup.world.ranks = 5;
  setup.world.lci = "hrx";
  setup.world.seed = 77;
  setup.world.mtu = 9000;
  setup.first = 2;
  setup.count = 3;
  setup.machine_ranks = 4;
  setup.machine_first = 1;
  setup.machine_nodes = 2;
  setup.machine_node = 1;
  setup.one_network = true;
  setup.traced = true;
  setup.epoch_ns = 123'456'789'000;
  setup.key = {1, 2, 3, 4};
  setup.directory = "/somewhere";
  setup.program = "/bin/prog";
  setup.arguments = {"prog", "", "two words"};
  setup.environment = {"A=1"};
  return setup;
}

TEST(NodeMessages, SettingsArriveAsTheyWere) {
  const AgentSetup sent = some_setup();
  const Result<AgentSetup> got = parse_agent_setup(body_of(sent));
  ASSERT_TRUE(got.ok()) << got.error().text;
  EXPECT_EQ(got.value().world.ranks, 5u);
  EXPECT_EQ(got.value().world.lci, "hrx");
  EXPECT_EQ(got.value().world.seed, 77u);
  EXPECT_EQ(got.value().world.mtu, 9000u);
  EXPECT_EQ(got.value().first, 2u);
  EXPECT_EQ(got.value().machine_first, 1u);
  EXPECT_EQ(got.value().machine_nodes, 2u);
  EXPECT_EQ(got.value().machine_node, 1u);
  EXPECT_TRUE(got.value().one_network);
  EXPECT_FALSE(got.value().label);
  EXPECT_TRUE(got.value().traced);
  EXPECT_EQ(got.value().epoch_ns, 123'456'789'000);
  EXPECT_EQ(got.value().key, sent.key);
  EXPECT_EQ(got.value().arguments, sent.arguments);
  EXPECT_EQ(got.value().environment, sent.environment);
}

TEST(NodeMessages, AHostIsTheRanksOfOneEngine) {
  AgentSetup setup = some_setup();  // ranks 2 to 4 of 5
  const auto reads = [&setup] { return parse_agent_setup(body_of(setup)).ok(); };
  setup.world.node_of = {0, 1, 2, 2, 2};
  const Result<AgentSetup> got = parse_agent_setup(body_of(setup));
  ASSERT_TRUE(got.ok()) << got.error().text;
  EXPECT_EQ(got.value().world.node_of, setup.world.node_of);
  // Expect: neither part of an engine's ranks, nor those of several, nor a hole, nor another job's
  for (const std::vector<std::uint32_t>& node_of : {std::vector<std::uint32_t>{0, 1, 1, 1, 1},
                                                    {0, 1, 2, 2, 3},
                                                    {0, 2, 2, 1, 2},
                                                    {0, 1, 2, 2}}) {
    setup.world.node_of = node_of;
    EXPECT_FALSE(reads());
  }
}

TEST(NodeMessages, EveryCutIsRefused) {
  const std::string setup = body_of(some_setup());
  for (std::size_t size = 0; size < setup.size(); ++size) {
    EXPECT_FALSE(parse_agent_setup(setup.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(parse_agent_setup(setup + "x").ok());
  AgentReport report{3, "why", {}};
  report.ranks.resize(2);
  report.ranks[1].reason = "because";
  report.ranks[1].counters.puts = 9;
  const std::string body = body_of(report);
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(parse_agent_report(body.substr(0, size)).ok()) << size;
  }
  const Result<AgentReport> got = parse_agent_report(body);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.value().ranks[1].counters.puts, 9u);
  EXPECT_EQ(got.value().ranks[1].reason, "because");
}

TEST(NodeMessages, RanksOutsideTheJobAreRefused) {
  for (const auto& change :
       {+[](AgentSetup& s) { s.count = 4; }, +[](AgentSetup& s) { s.count = 0; },
        +[](AgentSetup& s) { s.first = UINT32_MAX; },
        +[](AgentSetup& s) { s.world.ranks = 1u << 20; },
        +[](AgentSetup& s) { s.machine_nodes = 0; }, +[](AgentSetup& s) { s.machine_node = 2; },
        +[](AgentSetup& s) { s.machine_ranks = 2; }, +[](AgentSetup& s) { s.machine_first = 2; },
        +[](AgentSetup& s) { s.epoch_ns = -1; }, +[](AgentSetup& s) { s.arguments.clear(); },
        +[](AgentSetup& s) { s.program = std::string("a\0b", 3); }}) {
    AgentSetup setup = some_setup();
    change(setup);
    EXPECT_FALSE(parse_agent_setup(body_of(setup)).ok());
  }
}

TEST(NodeMessages, AStreamIsCutWhereverItIsSplit) {
  const std::string stream = node_message(NodeKind::data, 1, "abc") +
                             node_message(NodeKind::beat, 0, {}) +
                             node_message(NodeKind::data, 2, std::string(5000, 'x'));
  for (std::size_t step = 1; step < 40; ++step) {
    NodeMessages messages(false);
    std::string seen;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      messages.add(std::string_view(stream).substr(at, step));
      for (;;) {
        const auto next = messages.next();
        ASSERT_TRUE(next.ok());
        if (!next.value().has_value()) break;
        seen += std::to_string(static_cast<int>(next.value()->kind)) + ":" +
                std::to_string(next.value()->rank) + ":" +
                std::to_string(next.value()->body.size()) + " ";
      }
    }
    EXPECT_EQ(seen, "6:1:3 9:0:0 6:2:5000 ");
  }
}

TEST(NodeMessages, WhatAShellPrintsFirstIsSkippedAndKept) {
  NodeMessages messages(true);
  messages.add("Welcome to host\nfl");
  EXPECT_FALSE(messages.next().value().has_value());
  messages.add("n2 n1\n" + node_message(NodeKind::hello, 0, "h"));
  const auto next = messages.next();
  ASSERT_TRUE(next.ok() && next.value().has_value());
  EXPECT_EQ(next.value()->kind, NodeKind::hello);
  EXPECT_EQ(messages.skipped(), "Welcome to host\nfln2 n1\n");
}

TEST(NodeMessages, OtherVersionsAndStrangersAreNamed) {
  const auto answer = [](auto&& change) {
    std::string bytes = node_message(NodeKind::hello, 0, "hello");
    MessageHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    change(head);
    std::memcpy(bytes.data(), &head, sizeof head);
    NodeMessages messages(false);
    messages.add(bytes);
    const auto next = messages.next();
    return next.ok() ? std::string() : next.error().text;
  };
  EXPECT_NE(answer([](MessageHead& h) {
              h.version = kNodeVersion + 1;
            }).find("install the same Fairlead on every host"),
            std::string::npos);
  EXPECT_NE(answer([](MessageHead& h) { h.magic = 0; }), "");
  EXPECT_NE(answer([](MessageHead& h) { h.kind = 0; }), "");
  EXPECT_NE(answer([](MessageHead& h) { h.kind = 14; }), "");
  EXPECT_NE(answer([](MessageHead& h) { h.bytes = 15; }), "");
  EXPECT_NE(answer([](MessageHead& h) { h.bytes = UINT32_MAX; }), "");
}

}  // namespace
}  // namespace fairlead::run
