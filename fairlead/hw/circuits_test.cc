#include "fairlead/hw/circuits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "fairlead/hw/test_platform.h"

namespace fairlead::hw {
namespace {

struct Told {
  std::uint32_t packet;
  Peer at;
  Ps when;
  friend bool operator==(const Told&, const Told&) = default;
};

// Links of 10 ns a byte, switches of 100 ns, cables of 10; who gets a packet answers at once.
class CircuitsTest : public testing::Test {
 protected:
  void make(std::uint32_t nodes, std::uint32_t channels = 2, bool adaptive = false) {
    platform_ = round_platform();
    NetworkParams& network = platform_.network;
    network.topology = TopologyKind::fat_tree;
    network.hosts_per_switch = network.uplinks_per_switch = 4;
    network.fixed = Ps{0};
    network.held_circuits = true;
    network.virtual_channels = channels;
    network.adaptive_ascent = adaptive;
    network.cable = nanoseconds(10);
    engine_ = std::make_unique<sim::Engine>(nodes);
    topology_ = std::make_unique<Topology>(network, nodes);
    circuits_ = std::make_unique<Circuits>(*engine_, network, *topology_);
    circuits_->attach(CircuitSink{&CircuitsTest::arrived, &CircuitsTest::acknowledged,
                                  &CircuitsTest::ended, &CircuitsTest::closed, this});
  }
  std::uint32_t send(Ps at, std::uint32_t packet, Peer source, Peer first, Peer last,
                     std::uint64_t bytes, bool urgent = false) {
    const std::uint32_t circuit =
        circuits_->open(at, {packet, source, first, last, bytes, urgent, true});
    if (circuit_of_.size() <= packet) circuit_of_.resize(packet + 1);
    circuit_of_[packet] = circuit;
    return circuit;
  }
  static void arrived(void* self, Peer at, std::uint32_t packet) {
    auto& test = *static_cast<CircuitsTest*>(self);
    test.arrived_.push_back({packet, at, test.engine_->now()});
    if (packet == test.silent_) return;
    const Outcome outcome = at == test.refuses_ ? Outcome::unsuccessful : Outcome::done;
    test.circuits_->answer(test.circuit_of_[packet], at, outcome);
  }
  static void acknowledged(void* self, Peer at, std::uint32_t packet, Outcome outcome) {
    auto& test = *static_cast<CircuitsTest*>(self);
    test.acknowledged_.push_back({packet, at, test.engine_->now()});
    test.outcome_ = test.outcomes_[packet] = outcome;
  }
  static void ended(void* self, Peer first, Peer last, std::uint32_t packet, Outcome outcome) {
    auto& test = *static_cast<CircuitsTest*>(self);
    test.ended_.push_back({packet, last, test.engine_->now()});
    for (Peer at = first; outcome == Outcome::done && at <= last; ++at) {
      test.told_well_.push_back({packet, at, test.engine_->now()});
    }
  }

  static void closed(void* self, Peer, std::uint32_t packet) {
    static_cast<CircuitsTest*>(self)->closed_.push_back(packet);
  }

  Platform platform_;
  std::unique_ptr<sim::Engine> engine_;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<Circuits> circuits_;
  std::vector<std::uint32_t> circuit_of_;
  std::vector<Told> arrived_;
  std::vector<Told> acknowledged_;
  std::vector<Told> ended_;
  std::vector<std::uint32_t> closed_;
  std::vector<Told> told_well_;  // of an end by which all had taken the packet
  std::map<std::uint32_t, Outcome> outcomes_;
  Outcome outcome_ = Outcome::done;
  Peer refuses_ = ~0u;
  std::uint32_t silent_ = ~0u;
};

TEST_F(CircuitsTest, WhatLinksCarryIsCountedAndNotHowLongTheyAreTaken) {
  make(16);
  std::vector<Ps> busy(topology_->channels());
  circuits_->count(busy);
  (void)send(Ps{0}, 0, 0, 5, 5, 100);
  (void)send(Ps{0}, 1, 1, 0, 3, 50);
  ASSERT_TRUE(engine_->run_until_idle());
  EXPECT_EQ(busy[0], nanoseconds(1000));
  EXPECT_EQ(busy[topology_->channel_to_host(5)], nanoseconds(1000));
  // Expect: every branch of a multicast carries all of it.
  for (Peer node = 0; node < 4; ++node) {
    EXPECT_EQ(busy[topology_->channel_to_host(node)], nanoseconds(500)) << node;
  }
  EXPECT_EQ(busy[2], Ps{0});
}

TEST_F(CircuitsTest, APacketIsAnsweredAndEndsOnItsCircuit) {
  make(16);
  send(Ps{0}, 7, 0, 15, 15, 100);
  EXPECT_TRUE(engine_->run_until_idle());
  // Expect: 3 switches, 4 cables, 1000 ns of data; the answer and the end travel the same way
  const Ps way = nanoseconds(340);
  EXPECT_EQ(arrived_, (std::vector<Told>{{7, 15, way + nanoseconds(1000)}}));
  EXPECT_EQ(acknowledged_, (std::vector<Told>{{7, 0, way * 2 + nanoseconds(1000)}}));
  EXPECT_EQ(ended_, (std::vector<Told>{{7, 15, way * 3 + nanoseconds(1000)}}));
  EXPECT_EQ(circuits_->blocked(), Ps{0});
  EXPECT_EQ(circuits_->open_now(), 0u);
}

TEST_F(CircuitsTest, TwoPacketsThatStreamShareALink) {
  make(4);
  send(Ps{0}, 1, 0, 2, 2, 100);
  send(nanoseconds(500), 2, 1, 2, 2, 100);
  EXPECT_TRUE(engine_->run_until_idle());
  // Expect: 500 ns alone, then half the rate each; the second is alone again for its last 500 ns
  const Ps way = nanoseconds(120);
  EXPECT_EQ(arrived_,
            (std::vector<Told>{{1, 2, way + nanoseconds(1500)}, {2, 2, way + nanoseconds(2000)}}));
}

TEST_F(CircuitsTest, AThirdPacketWaitsForACircuitToEnd) {
  make(4);
  send(Ps{0}, 1, 0, 3, 3, 100);
  send(Ps{0}, 2, 1, 3, 3, 100);
  send(Ps{0}, 3, 2, 3, 3, 100);
  EXPECT_TRUE(engine_->run_until_idle());
  ASSERT_EQ(arrived_.size(), 3u);
  // Expect: the two share until 2120; answered at 2240, the end passes the last link at 2350
  EXPECT_EQ(arrived_[1].when, nanoseconds(2120));
  EXPECT_EQ(arrived_[2], (Told{3, 3, nanoseconds(2350 + 10 + 1000)}));
  EXPECT_GT(circuits_->blocked(), Ps{0});
}

TEST_F(CircuitsTest, UrgentOnesPassOthersUntilThoseAreOld) {
  make(8, 1);
  platform_.network.age = microseconds(100);
  send(Ps{0}, 1, 0, 3, 3, 100);
  send(nanoseconds(1), 2, 1, 3, 3, 100);
  send(nanoseconds(2), 3, 2, 3, 3, 100, true);
  EXPECT_TRUE(engine_->run_until_idle());
  // Expect: the urgent one before who asked first
  EXPECT_EQ(arrived_[1].packet, 3u);
  make(8, 1);
  arrived_.clear();
  platform_.network.age = nanoseconds(500);
  send(Ps{0}, 1, 0, 3, 3, 100);
  send(nanoseconds(1), 2, 1, 3, 3, 100);
  send(nanoseconds(2), 3, 2, 3, 3, 100, true);
  EXPECT_TRUE(engine_->run_until_idle());
  // Expect: not before one that has waited for longer than that
  EXPECT_EQ(arrived_[1].packet, 2u);
}

TEST_F(CircuitsTest, AnAdaptiveWayUpAvoidsWhatIsTaken) {
  // Nodes 0 and 1 to nodes that a fixed way up reaches by the same link.
  for (const bool adaptive : {false, true}) {
    make(16, 1, adaptive);
    arrived_.clear();
    send(Ps{0}, 1, 0, 4, 4, 100);
    send(Ps{0}, 2, 1, 8, 8, 100);
    EXPECT_TRUE(engine_->run_until_idle());
    ASSERT_EQ(arrived_.size(), 2u);
    // Expect: at once where the way is free to choose
    EXPECT_EQ(arrived_[1].when == nanoseconds(1340), adaptive);
  }
}

TEST_F(CircuitsTest, AMulticastReachesItsRangeAndTheWorstAnswerComesBack) {
  make(64);
  refuses_ = 37;
  send(Ps{0}, 1, 20, 16, 63, 100);
  EXPECT_TRUE(engine_->run_until_idle());
  // Expect: every host of the range at once, 5 switches and 6 cables away, nobody else
  ASSERT_EQ(arrived_.size(), 48u);
  for (std::uint32_t i = 0; i < 48; ++i) {
    EXPECT_EQ(arrived_[i], (Told{1, 16 + i, nanoseconds(560 + 1000)}));
  }
  EXPECT_EQ(acknowledged_, (std::vector<Told>{{1, 20, nanoseconds(560 * 2 + 1000)}}));
  EXPECT_EQ(outcome_, Outcome::unsuccessful);
  EXPECT_EQ(circuits_->open_now(), 0u);
}

TEST_F(CircuitsTest, AMulticastReaches65536Hosts) {
  make(65'536);
  send(Ps{0}, 1, 20, 0, 65'535, 100);
  EXPECT_TRUE(engine_->run_until_idle());
  // Expect: every host at once, 15 switches and 16 cables away; the answer as far again
  ASSERT_EQ(arrived_.size(), 65'536u);
  EXPECT_EQ(arrived_.back(), (Told{1, 65'535, nanoseconds(1500 + 160 + 1000)}));
  EXPECT_EQ(acknowledged_, (std::vector<Told>{{1, 20, nanoseconds(1660 * 2 + 1000)}}));
  EXPECT_EQ(circuits_->open_now(), 0u);
}

TEST_F(CircuitsTest, MulticastsMeetInTheirRootOneAfterTheOther) {
  make(16);
  send(Ps{0}, 1, 0, 0, 15, 100);
  send(Ps{0}, 2, 5, 0, 15, 100);
  EXPECT_TRUE(engine_->run_until_idle());
  ASSERT_EQ(arrived_.size(), 32u);
  // Expect: the second one enters the root behind the first one's end: 340 there, 1000, 340 back,
  // and 220 to the root
  EXPECT_EQ(arrived_[16].when, nanoseconds(340 + 1000 + 340 + 220 + 120 + 1000));
}

// Nested and overlapping groups, and packets between them, at random times: everything ends.
TEST_F(CircuitsTest, NestedMulticastsDoNotDeadlock) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    make(64, seed % 2 == 0 ? 1 : 2, seed % 3 == 0);
    arrived_.clear();
    acknowledged_.clear();
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u;
    const auto draw = [&state](std::uint32_t below) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<std::uint32_t>((state >> 33) % below);
    };
    std::size_t destinations = 0;
    constexpr std::uint32_t kPackets = 120;
    for (std::uint32_t packet = 0; packet < kPackets; ++packet) {
      const Peer source = draw(64);
      Peer first = source;
      Peer last = source;
      if (draw(3) == 0) {
        first = last = (source + 1 + draw(63)) % 64;
      } else {
        const std::uint32_t span = 4u << (2 * draw(3));
        first = source / span * span;
        last = first + span - 1;
        if (draw(2) == 0 && last > source) last = source + 1 + draw(last - source);
        if (first == last) last = first + 1;
      }
      send(nanoseconds(draw(3000)), packet, source, first, last, 50 + draw(300));
      destinations += last - first + 1;
    }
    EXPECT_TRUE(engine_->run_until_idle());
    // Expect: every packet at every destination, each answered, nothing held
    EXPECT_EQ(arrived_.size(), destinations) << seed;
    EXPECT_EQ(acknowledged_.size(), kPackets) << seed;
    EXPECT_EQ(circuits_->open_now(), 0u) << seed;
  }
}

// Packets, answers and ends break at random, and all of one node's; the source sends again what
// broke. No circuit stays open, a source that is told that all is well is right, and one that is
// not knows of all whom the end did not reach.
TEST_F(CircuitsTest, WhateverBreaksNoCircuitStaysOpen) {
  struct Wires {
    std::uint64_t state = 0;
    Peer dead = 0;
    std::uint32_t broke[3] = {};
    std::uint32_t draw(std::uint32_t below) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<std::uint32_t>((state >> 33) % below);
    }
  };
  constexpr std::uint32_t kPackets = 80;
  std::uint32_t broke[3] = {};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    make(64, seed % 2 == 0 ? 1 : 2, seed % 3 == 0);
    for (std::vector<Told>* const told : {&arrived_, &acknowledged_, &ended_}) told->clear();
    closed_.clear();
    told_well_.clear();
    outcomes_.clear();
    Wires wires;
    wires.state = seed * 0x9e3779b97f4a7c15u;
    wires.dead = wires.draw(64);
    const WireBreaks breaks{[](void* self, Peer source, Peer destination, Leg leg) {
                              auto& here = *static_cast<Wires*>(self);
                              const bool dead = source == here.dead || destination == here.dead;
                              if (!dead && here.draw(50) != 0) return false;
                              ++here.broke[static_cast<std::size_t>(leg)];
                              return true;
                            },
                            &wires};
    circuits_->attach(&breaks);
    struct Range {
      Peer first, last;
    };
    std::vector<Range> ranges;
    for (std::uint32_t packet = 0; packet < kPackets; ++packet) {
      const Peer source = wires.draw(64);
      const std::uint32_t span = 4u << (2 * wires.draw(3));
      Range range{source / span * span, source / span * span + span - 1};
      if (wires.draw(3) == 0) range.first = range.last = (source + 1 + wires.draw(63)) % 64;
      ranges.push_back(range);
      send(nanoseconds(wires.draw(3000)), packet, source, range.first, range.last, 50);
    }
    EXPECT_TRUE(engine_->run_until_idle());
    // Expect: every packet answered once and closed once, nothing held
    EXPECT_EQ(acknowledged_.size(), kPackets) << seed;
    EXPECT_EQ(closed_.size(), kPackets) << seed;
    EXPECT_EQ(circuits_->open_now(), 0u) << seed;
    for (std::size_t leg = 0; leg < 3; ++leg) broke[leg] += wires.broke[leg];
    for (std::uint32_t packet = 0; packet < kPackets; ++packet) {
      const Range range = ranges[packet];
      const auto reached = std::count_if(arrived_.begin(), arrived_.end(),
                                         [&](const Told& told) { return told.packet == packet; });
      const auto well = std::count_if(told_well_.begin(), told_well_.end(),
                                      [&](const Told& told) { return told.packet == packet; });
      const bool has_dead = wires.dead >= range.first && wires.dead <= range.last;
      const bool done = outcomes_[packet] == Outcome::done;
      const std::uint32_t members = range.last - range.first + 1;
      // Expect: all or not all well; and where the source is told that it broke, no end says that
      // all have taken it unless all have
      EXPECT_EQ(done, well == members) << seed << " " << packet;
      EXPECT_FALSE(done && (has_dead || reached != members)) << seed << " " << packet;
      EXPECT_TRUE(well == 0 || reached == members) << seed << " " << packet;
    }
  }
  for (const std::uint32_t each : broke) EXPECT_GT(each, 0u);
}

}  // namespace
}  // namespace fairlead::hw
