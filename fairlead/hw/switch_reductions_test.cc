#include "fairlead/hw/switch_reductions.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

// Links of 10 ns a byte, switches of 100 ns; a switch combines a byte a nanosecond, and what it
// makes of its operands leaves 50 ns later. A packet's content is the set of nodes that are in it.
class SwitchReductionsTest : public testing::Test {
 protected:
  using Nodes = std::vector<Peer>;

  void make(std::uint32_t nodes, bool circuits) {
    params_ = round_network();
    params_.topology = TopologyKind::fat_tree;
    params_.hosts_per_switch = params_.uplinks_per_switch = 4;
    params_.fixed = Ps{0};
    params_.reduction_bytes = 64;
    params_.reduction = nanoseconds(50);
    params_.reduction_rate = BytesPerSec{1'000'000'000};
    if (circuits) {
      params_.held_circuits = true;
      params_.virtual_channels = 2;
      params_.cable = nanoseconds(10);
    } else {
      params_.buffer_bytes = 1000;
    }
    engine_ = std::make_unique<sim::Engine>(nodes);
    network_ = std::make_unique<Network>(*engine_, params_, nodes);
    content_.clear();
    results_.clear();
    came_.clear();
    ReductionSink sink;
    sink.context = this;
    sink.combine = [](void* self, std::uint32_t into, std::uint32_t operand) {
      auto& content = static_cast<SwitchReductionsTest*>(self)->content_;
      content[into].insert(content[into].end(), content[operand].begin(), content[operand].end());
      content.erase(operand);
    };
    sink.result = [](void* self, std::uint32_t packet, Peer, Peer, std::uint32_t circuit) {
      auto& test = *static_cast<SwitchReductionsTest*>(self);
      test.results_[packet] = {test.engine_->now(), circuit};
    };
    sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
      auto& test = *static_cast<SwitchReductionsTest*>(self);
      test.came_.push_back({packet, node, test.engine_->now()});
    };
    network_->reductions()->attach(sink);
    NetworkSink packets;
    packets.context = this;
    packets.arrived = [](void* self, Peer, std::uint32_t) {
      ++static_cast<SwitchReductionsTest*>(self)->others_;
    };
    packets.transmitted = [](void*, Peer, std::uint32_t) {};
    network_->attach(packets);
    if (circuits) attach_circuits();
  }
  void attach_circuits() {
    CircuitSink sink;
    sink.context = this;
    sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
      auto& test = *static_cast<SwitchReductionsTest*>(self);
      const bool result = test.results_.contains(packet);
      if (result) test.came_.push_back({packet, node, test.engine_->now()});
      const std::uint32_t circuit = result ? test.results_[packet].circuit : test.circuit_[packet];
      test.network_->circuits()->answer(circuit, node, Outcome::done);
    };
    sink.acknowledged = [](void* self, Peer, std::uint32_t packet, Outcome) {
      auto& test = *static_cast<SwitchReductionsTest*>(self);
      ++(packet < kOthers ? test.left_ : test.others_);
    };
    network_->circuits()->attach(sink);
  }
  // Node i's operand is packet `from` + i.
  void reduce(Ps at, std::uint32_t from, Peer source, Peer first, Peer last, std::uint64_t name,
              std::uint64_t bytes = 100) {
    content_[from + source] = {source};
    network_->reductions()->inject(at, {from + source, source, first, last, name, bytes});
  }
  static Nodes all(Peer first, Peer last) {
    Nodes nodes;
    for (Peer node = first; node <= last; ++node) nodes.push_back(node);
    return nodes;
  }
  void send(Ps at, std::uint32_t packet, Peer source, Peer first, Peer last, std::uint64_t bytes) {
    if (network_->circuits() == nullptr) return network_->inject(at, packet, source, last, bytes);
    circuit_[packet] = network_->circuits()->open(at, {packet, source, first, last, bytes});
  }

  static constexpr std::uint32_t kOthers = 1'000'000;
  struct Result {
    Ps at;
    std::uint32_t circuit;
  };
  struct Came {
    std::uint32_t packet;
    Peer node;
    Ps at;
  };
  NetworkParams params_;
  std::unique_ptr<sim::Engine> engine_;
  std::unique_ptr<Network> network_;
  std::map<std::uint32_t, Nodes> content_;
  std::map<std::uint32_t, Result> results_;
  std::map<std::uint32_t, std::uint32_t> circuit_;
  std::vector<Came> came_;
  std::size_t left_ = 0;
  std::size_t others_ = 0;
};

TEST_F(SwitchReductionsTest, OneSwitchCombinesItsHosts) {
  make(4, false);
  for (Peer node = 4; node-- > 0;) reduce(nanoseconds(7 * node), 0, node, 0, 3, 9);
  ASSERT_TRUE(engine_->run_until_idle());
  ASSERT_EQ(results_.size(), 1u);
  // Expect: in the order of the ports; 1000 ns on the link from 21 on, 100 through the switch, its
  // unit takes 100 a packet: the last one, which came 7 behind the first, ends 300 behind it
  EXPECT_EQ(content_[0], all(0, 3));
  EXPECT_EQ(results_[0].at, nanoseconds(1100 + 400 + 50));
  // Expect: at all of them together, by a link each
  ASSERT_EQ(came_.size(), 4u);
  for (const Came& came : came_) EXPECT_EQ(came.at, nanoseconds(1550 + 1000));
  EXPECT_EQ(network_->reductions()->open(), 0u);
}

TEST_F(SwitchReductionsTest, SwitchesPassOnWhatTheyCombined) {
  for (const bool circuits : {false, true}) {
    make(64, circuits);
    left_ = 0;
    // A part of the tree, not all of any one switch above the first.
    for (Peer node = 17; node <= 41; ++node) reduce(Ps{0}, 0, node, 17, 41, 1);
    ASSERT_TRUE(engine_->run_until_idle());
    ASSERT_EQ(results_.size(), 1u);
    const std::uint32_t packet = results_.begin()->first;
    EXPECT_EQ(content_[packet], all(17, 41));
    std::set<Peer> members;
    for (const Came& came : came_) {
      EXPECT_EQ(came.packet, packet);
      EXPECT_EQ(came.at, came_.front().at);
      members.insert(came.node);
    }
    // Expect: every member, once, nobody else; where links are circuits each source was answered
    EXPECT_EQ(came_.size(), 25u);
    EXPECT_EQ(members.size(), 25u);
    if (circuits) {
      EXPECT_EQ(left_, 25u);
      EXPECT_EQ(network_->circuits()->open_now(), 0u);
    }
  }
}

TEST_F(SwitchReductionsTest, WhoComesLateDecidesWhenNotWhat) {
  make(16, false);
  for (Peer node = 0; node < 16; ++node) {
    reduce(node == 5 ? microseconds(20) : Ps{0}, 0, node, 0, 15, 1);
  }
  ASSERT_TRUE(engine_->run_until_idle());
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(content_[results_.begin()->first], all(0, 15));
  // Expect: 1000 on each link up, 100 through each switch, 100 combined and 50 later, twice
  EXPECT_EQ(results_.begin()->second.at, microseconds(20) + nanoseconds(2 * (1000 + 100 + 150)));
}

// Groups that are nested or overlap, several reductions of each at once, and other traffic.
TEST_F(SwitchReductionsTest, EverythingEndsWhateverElseIsOnTheLinks) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const bool circuits = seed % 2 == 0;
    make(64, circuits);
    Prng random(seed);
    others_ = 0;
    std::size_t members = 0;
    std::uint64_t name = 0;
    for (std::uint32_t round = 0; round < 30; ++round) {
      const auto first = static_cast<Peer>(random.below(60));
      const auto last = static_cast<Peer>(first + 1 + random.below(63 - first));
      for (Peer node = first; node <= last; ++node) {
        const Ps at = nanoseconds(static_cast<std::int64_t>(random.below(30'000)));
        reduce(at, round * 100, node, first, last, name, 30 + round);
      }
      ++name;
      members += last - first + 1;
    }
    constexpr std::uint32_t kSent = 100;
    for (std::uint32_t i = 0; i < kSent; ++i) {
      const auto source = static_cast<Peer>(random.below(64));
      const auto to = static_cast<Peer>((source + 1 + random.below(63)) % 64);
      const Ps at = nanoseconds(static_cast<std::int64_t>(random.below(30'000)));
      const bool many = circuits && i % 3 == 0;
      send(at, kOthers + i, source, many ? 0 : to, many ? 63 : to, 20 + random.below(200));
    }
    ASSERT_TRUE(engine_->run_until_idle());
    // Expect: each reduction's result at each of its members, every packet there, nothing left
    EXPECT_EQ(results_.size(), 30u) << seed;
    EXPECT_EQ(came_.size(), members) << seed;
    EXPECT_EQ(others_, kSent) << seed;
    EXPECT_EQ(network_->reductions()->open(), 0u) << seed;
    for (const auto& [packet, result] : results_) {
      const Nodes& nodes = content_[packet];
      EXPECT_EQ(nodes, all(nodes.front(), nodes.back())) << seed;
    }
    if (circuits) {
      EXPECT_EQ(network_->circuits()->open_now(), 0u) << seed;
    }
  }
}

}  // namespace
}  // namespace fairlead::hw
