#include "fairlead/hw/buffered_links.h"

#include <vector>

#include "fairlead/hw/test_platform.h"
#include "fairlead/hw/watched_network.h"

namespace fairlead::hw {
namespace {

// Links of 10 ns a byte, 100 ns a switch, 200 ns in the interfaces; two packets of 100 bytes fit a
// buffer.
class BufferedLinksTest : public WatchedNetwork {
 protected:
  void make(std::uint32_t nodes, TopologyKind kind, std::uint64_t buffer_bytes) {
    params_ = round_network();
    params_.topology = kind;
    params_.buffer_bytes = buffer_bytes;
    watch(nodes, params_);
  }
  void run() { ASSERT_TRUE(engine_->run_until_idle()); }

  NetworkParams params_;
};

TEST_F(BufferedLinksTest, AFreeWayIsCutThrough) {
  make(2, TopologyKind::single_switch, 200);
  network_->inject(Ps{0}, 7, 0, 1, 100);
  run();
  // Expect: as a wormhole: fixed part, one switch, the bytes once. The source has it a switch less.
  EXPECT_EQ(arrived_, (std::vector<Seen>{{7, nanoseconds(200 + 100 + 1000)}}));
  EXPECT_EQ(left_, (std::vector<Seen>{{7, nanoseconds(200 + 1000)}}));
  EXPECT_EQ(network_->blocked(), Ps{0});
}

TEST_F(BufferedLinksTest, ABlockedPacketLeavesItsLinkToOthers) {
  make(4, TopologyKind::single_switch, 200);
  network_->inject(Ps{0}, 1, 0, 2, 100);
  network_->inject(Ps{0}, 2, 1, 2, 100);  // waits for the link to node 2, in the switch
  network_->inject(Ps{0}, 3, 1, 3, 100);  // behind it on the link of node 1, for another one
  run();
  // Expect: packet 3 follows packet 2 on their link and is not behind it in the switch.
  EXPECT_EQ(left_, (std::vector<Seen>{
                       {1, nanoseconds(1200)}, {2, nanoseconds(1200)}, {3, nanoseconds(2200)}}));
  EXPECT_EQ(arrived_, (std::vector<Seen>{
                          {1, nanoseconds(1300)}, {2, nanoseconds(2300)}, {3, nanoseconds(2300)}}));
}

TEST_F(BufferedLinksTest, TheBusiestLinkIsTheOneThatCarriesMost) {
  make(4, TopologyKind::single_switch, 200);
  network_->count();
  network_->inject(Ps{0}, 1, 0, 2, 100);
  network_->inject(Ps{0}, 2, 1, 2, 100);  // waits in the switch, which is no carrying
  network_->inject(Ps{0}, 3, 1, 3, 50);
  run();
  EXPECT_EQ(network_->busiest().name, "to node 2");
  EXPECT_EQ(network_->busiest().time, nanoseconds(2000));
}

TEST_F(BufferedLinksTest, WhoHasNoCreditsWaitsAtTheSource) {
  make(4, TopologyKind::single_switch, 200);
  network_->inject(Ps{0}, 1, 0, 3, 100);
  for (std::uint32_t id = 2; id <= 4; ++id) network_->inject(Ps{0}, id, 1, 3, 100);
  run();
  // Expect: 2 and 3 lie in the switch while 1 and 2 pass; 4 begins to leave its source when 2 has
  // left the switch.
  EXPECT_EQ(arrived_.back(), (Seen{4, nanoseconds(1300 + 3 * 1000)}));
  EXPECT_EQ(left_.back(), (Seen{4, nanoseconds(2300 + 1000)}));
  // Expect: with room for all it leaves as soon as its link is free.
  const Ps late = arrived_.back().at;
  left_.clear();
  arrived_.clear();
  make(4, TopologyKind::single_switch, 1000);
  network_->inject(Ps{0}, 1, 0, 3, 100);
  for (std::uint32_t id = 2; id <= 4; ++id) network_->inject(Ps{0}, id, 1, 3, 100);
  run();
  EXPECT_EQ(left_.back(), (Seen{4, nanoseconds(200 + 3 * 1000)}));
  EXPECT_EQ(arrived_.back().at, late);
}

TEST_F(BufferedLinksTest, ALongPacketAndEverybodyAtOnceGetThere) {
  constexpr std::uint32_t kNodes = 16;
  for (const TopologyKind kind : {TopologyKind::single_switch, TopologyKind::grid,
                                  TopologyKind::clos, TopologyKind::fat_tree}) {
    arrived_.clear();
    params_ = {};
    make(kind == TopologyKind::single_switch ? 8 : kNodes, kind, 150);
    const std::uint32_t nodes = kind == TopologyKind::single_switch ? 8 : kNodes;
    std::uint32_t id = 0;
    for (Peer from = 0; from < nodes; ++from) {
      for (Peer to = 0; to < nodes; ++to) {
        // Some are longer than a buffer.
        if (from == to) continue;
        network_->inject(Ps{0}, id, from, to, 60 + 40 * (id % 4));
        ++id;
      }
    }
    run();
    // Expect: nothing is left, whatever waits for what.
    EXPECT_EQ(arrived_.size(), id) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace fairlead::hw
