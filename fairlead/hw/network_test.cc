#include "fairlead/hw/network.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/hw/speed_up.h"
#include "fairlead/hw/test_platform.h"
#include "fairlead/hw/watched_network.h"

namespace fairlead::hw {
namespace {

// 80 bytes and the header of 20: 1 us.
class NetworkTest : public WatchedNetwork {
 protected:
  void make(std::uint32_t nodes, TopologyKind kind) {
    auto custom = platform_.network.custom;
    platform_ = round_platform();
    platform_.network.topology = kind;
    platform_.network.custom = std::move(custom);
    watch(nodes, platform_.network);
  }

  Platform platform_;
};

TEST_F(NetworkTest, LatencyIsFixedPartSwitchesAndBytes) {
  make(2, TopologyKind::single_switch);
  network_->inject(Ps{0}, 7, 0, 1, 100);
  (void)engine_->run_until_idle();
  // Expect: 200 ns in the NIs, one switch of 100 ns, 100 bytes of 10 ns
  EXPECT_EQ(arrived_, (std::vector<Seen>{{7, nanoseconds(1300)}}));
  // Expect: the tail leaves the source as the head has gone through the switch and 900 ns passed
  EXPECT_EQ(left_, (std::vector<Seen>{{7, nanoseconds(1200)}}));
  EXPECT_EQ(network_->blocked(), Ps{0});
}

TEST_F(NetworkTest, EverySwitchAddsItsDelay) {
  make(64, TopologyKind::grid);
  network_->inject(microseconds(1), 1, 0, 63, 100);
  (void)engine_->run_until_idle();
  // Expect: injected at 1000, 200 fixed, 10 switches, 1000 for the bytes
  EXPECT_EQ(arrived_, (std::vector<Seen>{{1, nanoseconds(3200)}}));
}

TEST_F(NetworkTest, ABlockedPacketHoldsItsChannels) {
  make(4, TopologyKind::single_switch);
  network_->inject(Ps{0}, 1, 0, 2, 100);
  network_->inject(Ps{0}, 2, 1, 2, 100);  // waits for the channel to node 2
  network_->inject(Ps{0}, 3, 1, 3, 100);  // node 3 is free, but packet 2 holds the way out
  (void)engine_->run_until_idle();
  // Expect: packet 3 pays for packet 2's wait
  EXPECT_EQ(arrived_, (std::vector<Seen>{
                          {1, nanoseconds(1300)}, {2, nanoseconds(2300)}, {3, nanoseconds(3300)}}));
  EXPECT_EQ(left_, (std::vector<Seen>{
                       {1, nanoseconds(1200)}, {2, nanoseconds(2200)}, {3, nanoseconds(3200)}}));
  // Expect: packet 2 stood for 1 us, packet 3 for 2 us
  EXPECT_EQ(network_->blocked(), microseconds(3));
}

TEST_F(NetworkTest, AContendedChannelServesInOrderOfAsking) {
  make(4, TopologyKind::single_switch);
  network_->inject(nanoseconds(100), 1, 0, 3, 100);
  network_->inject(nanoseconds(50), 2, 1, 3, 100);
  network_->inject(nanoseconds(0), 3, 2, 3, 100);
  (void)engine_->run_until_idle();
  // Expect: who asked first goes first, back to back
  EXPECT_EQ(arrived_, (std::vector<Seen>{
                          {3, nanoseconds(1300)}, {2, nanoseconds(2300)}, {1, nanoseconds(3300)}}));
}

TEST_F(NetworkTest, PacketsOfOnePairStayInOrder) {
  make(64, TopologyKind::grid);
  for (std::uint32_t i = 0; i < 20; ++i) {
    network_->inject(Ps{0}, i, 5, 40, i % 3 == 0 ? 2000 : 30);
    network_->inject(Ps{0}, 100 + i, 21, 40, 500);  // in their way
  }
  (void)engine_->run_until_idle();
  ASSERT_EQ(arrived_.size(), 40u);
  std::uint32_t next = 0;
  std::uint32_t next_other = 100;
  for (const Seen& seen : arrived_) {
    // Expect: FIFO within each pair
    EXPECT_EQ(seen.packet, seen.packet < 100 ? next++ : next_other++);
  }
}

TEST_F(NetworkTest, ASlowLongCableDelaysWhatPassesIt) {
  const std::string file =
      testing::TempDir() + "fairlead-slow-" + std::to_string(::getpid()) + ".toml";
  std::ofstream(file) << "description = 'slow'\nswitches = ['a', 'b']\n"
                         "link = [{from = '0-1', to = 'a'}, {from = 2, to = 'b', us = 0.5},\n"
                         "        {from = 'a', to = 'b', MBps = 50, us = 3}]\n";
  platform_ = round_platform();
  auto loaded = CustomNetwork::load(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  platform_.network.custom = loaded.value();
  make(3, TopologyKind::custom);
  network_->inject(Ps{0}, 7, 0, 2, 100);
  network_->inject(Ps{0}, 8, 1, 0, 100);
  (void)engine_->run_until_idle();
  // Expect: packet 8 as on one switch; packet 7 200 ns in the NIs, two switches of 100 ns, 3.5 us
  // of cable, 100 bytes of 20 ns
  EXPECT_EQ(arrived_, (std::vector<Seen>{{8, nanoseconds(1300)}, {7, nanoseconds(5900)}}));
  // Expect: it has left once nothing can block its head any more
  EXPECT_EQ(left_, (std::vector<Seen>{{8, nanoseconds(1200)}, {7, nanoseconds(3400)}}));
  // Expect: links twice as fast are so here too
  speed_up(platform_, kLinkResource, 2);
  arrived_.clear();
  make(3, TopologyKind::custom);
  platform_.network.switch_delay = platform_.network.fixed = Ps{0};
  network_->inject(Ps{0}, 7, 0, 2, 100);
  (void)engine_->run_until_idle();
  EXPECT_EQ(arrived_, (std::vector<Seen>{{7, nanoseconds(2750)}}));
}

}  // namespace
}  // namespace fairlead::hw
