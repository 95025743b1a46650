#include "fairlead/hw/circuits.h"

#include <gtest/gtest.h>

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
    circuits_->attach(
        {&CircuitsTest::arrived, &CircuitsTest::acknowledged, &CircuitsTest::ended, this});
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
    test.outcome_ = outcome;
  }
  static void ended(void* self, Peer, Peer last, std::uint32_t packet, Outcome) {
    auto& test = *static_cast<CircuitsTest*>(self);
    test.ended_.push_back({packet, last, test.engine_->now()});
  }

  Platform platform_;
  std::unique_ptr<sim::Engine> engine_;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<Circuits> circuits_;
  std::vector<std::uint32_t> circuit_of_;
  std::vector<Told> arrived_;
  std::vector<Told> acknowledged_;
  std::vector<Told> ended_;
  Outcome outcome_ = Outcome::done;
  Peer refuses_ = ~0u;
  std::uint32_t silent_ = ~0u;
};

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

}  // namespace
}  // namespace fairlead::hw
