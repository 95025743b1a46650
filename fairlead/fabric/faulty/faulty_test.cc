#include "fairlead/fabric/faulty/faulty.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/loop/loop.h"

namespace fairlead::fabric {
namespace {

struct Arrivals {
  std::vector<std::uint32_t> sequences;
  std::vector<std::size_t> sizes;
  bool intact = true;

  static Keep arrived(void* self, const Incoming& in) {
    auto& a = *static_cast<Arrivals*>(self);
    a.sequences.push_back(in.header->sequence);
    a.sizes.push_back(in.payload.size());
    for (std::byte b : in.payload)
      a.intact = a.intact && b == static_cast<std::byte>(in.header->sequence);
    a.intact = a.intact && in.header->client.size == in.payload.size() && in.header->job == 5;
    return Keep::no;
  }
};

class FaultyTest : public ::testing::Test {
 protected:
  void start(const char* text, std::uint64_t seed, FaultyOptions options = {}) {
    network_ = std::move(LoopNetwork::create({2, 1 << 20}).value());
    const FaultPlan plan = parse_fault_plan(text, seed).value();
    for (Peer p = 0; p < 2; ++p) {
      inner_.push_back(network_->endpoint(p));
      faulty_.push_back(make_faulty(*inner_[p], plan, options));
    }
    faulty_[1]->attach({&Arrivals::arrived, nullptr, &arrivals_});
    faulty_[0]->attach({&Arrivals::arrived, nullptr, &arrivals_});
  }
  void send(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      PacketHeader h{};
      h.client.size = i % 100;
      h.sequence = i;
      h.job = 5;
      const std::vector<std::byte> data(h.client.size, static_cast<std::byte>(i));
      const Piece piece{data.data(), data.size()};
      ASSERT_EQ(faulty_[0]->post(1, h, {&piece, 1}), Post::done);
      faulty_[1]->reap(10, kAllLanes);
    }
  }

  std::unique_ptr<LoopNetwork> network_;
  std::vector<std::unique_ptr<Nic>> inner_;
  std::vector<std::unique_ptr<Nic>> faulty_;
  Arrivals arrivals_;
};

TEST_F(FaultyTest, WithoutFaultsEverythingPasses) {
  start("", 1);
  send(1000);
  // Expect: all, in order, whole, but not promised.
  EXPECT_TRUE(arrivals_.intact);
  ASSERT_EQ(arrivals_.sequences.size(), 1000u);
  EXPECT_EQ(arrivals_.sequences[999], 999u);
  EXPECT_EQ(faulty_[0]->caps(1).flags & kReliable, 0u);
}

TEST_F(FaultyTest, DropsAndDuplicatesTheSamePacketsForTheSameSeed) {
  start("drop=0.1,dup=0.1", 3);
  send(1000);
  const std::vector<std::uint32_t> first = arrivals_.sequences;
  faulty_.clear();
  inner_.clear();
  arrivals_ = {};
  start("drop=0.1,dup=0.1", 3);
  send(1000);
  // Expect: the same sequence again, with losses and repetitions in it.
  EXPECT_EQ(arrivals_.sequences, first);
  std::size_t repeated = 0;
  std::size_t missing = 0;
  for (std::size_t i = 1; i < first.size(); ++i) {
    repeated += first[i] == first[i - 1] ? 1 : 0;
    missing += first[i] > first[i - 1] + 1 ? 1 : 0;
  }
  EXPECT_GT(repeated, 50u);
  EXPECT_GT(missing, 50u);
}

TEST_F(FaultyTest, ALinkHasFaultsOfItsOwn) {
  start("link=1-0:drop=1", 4);
  send(100);
  // Expect: the other way is whole
  EXPECT_EQ(arrivals_.sequences.size(), 100u);
  arrivals_ = {};
  faulty_.clear();
  inner_.clear();
  start("link=0-1:drop=1", 4);
  send(100);
  EXPECT_TRUE(arrivals_.sequences.empty());
  faulty_.clear();
  inner_.clear();
  FaultyOptions options;
  options.epoch = nanoseconds(monotonic_ns());
  start("down=1@0us+86400s", 4, options);
  send(100);
  // Expect: nothing passes a link that is down
  EXPECT_TRUE(arrivals_.sequences.empty());
}

// Raw puts meet the plan's chance of a packet, and leave that of packets as it is.
TEST_F(FaultyTest, LosesRawPutsLikePackets) {
  const auto lost = [&](const char* plan) {
    faulty_.clear();
    inner_.clear();
    start(plan, 4);
    int count = 0;
    for (int i = 0; i < 1000; ++i) count += loses_put(*faulty_[0], 1) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(lost("drop=1"), 1000);
  EXPECT_EQ(lost("dup=1,corrupt=1"), 0);
  EXPECT_NEAR(lost("drop=0.1"), 100, 50);
  arrivals_ = {};
  send(100);
  const std::vector<std::uint32_t> beside = arrivals_.sequences;
  arrivals_ = {};
  faulty_.clear();
  inner_.clear();
  start("drop=0.1", 4);
  send(100);
  EXPECT_EQ(arrivals_.sequences, beside);
}

TEST_F(FaultyTest, ACorruptPacketIsCountedAndDropped) {
  start("corrupt=1", 4);
  send(500);
  // Expect: every flipped bit is found, wherever it was.
  EXPECT_TRUE(arrivals_.sequences.empty());
  EXPECT_EQ(network_->counters(1).corrupt_dropped, 500u);
}

TEST_F(FaultyTest, ReorderedPacketsArriveOnceLater) {
  start("reorder=0.2", 5);
  send(500);
  for (int i = 0; i < 1000; ++i) {
    faulty_[0]->reap(10, kAllLanes);
    faulty_[1]->reap(10, kAllLanes);
  }
  // Expect: each once, some behind a later one.
  ASSERT_EQ(arrivals_.sequences.size(), 500u);
  std::vector<bool> seen(500);
  std::size_t behind = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_FALSE(seen[arrivals_.sequences[i]]);
    seen[arrivals_.sequences[i]] = true;
    behind += i > 0 && arrivals_.sequences[i] < arrivals_.sequences[i - 1] ? 1 : 0;
  }
  EXPECT_GT(behind, 20u);
}

TEST_F(FaultyTest, DelayedPacketsWaitTheirTime) {
  start("delay=2ms:1", 6);
  const std::int64_t begin = monotonic_ns();
  send(1);
  while (arrivals_.sequences.empty()) {
    faulty_[0]->reap(10, kAllLanes);
    faulty_[1]->reap(10, kAllLanes);
  }
  // Expect: not before the delay.
  EXPECT_GE(monotonic_ns() - begin, 2'000'000);
}

TEST_F(FaultyTest, KillsOnlyTheRankNamed) {
  int killed = 0;
  FaultyOptions options;
  options.kill = [](void* n) { ++*static_cast<int*>(n); };
  options.kill_context = &killed;
  start("kill=1@0ms", 7, options);
  faulty_[0]->reap(1, kAllLanes);
  EXPECT_EQ(killed, 0);
  faulty_[1]->reap(1, kAllLanes);
  faulty_[1]->reap(1, kAllLanes);
  // Expect: once.
  EXPECT_EQ(killed, 1);
}

}  // namespace
}  // namespace fairlead::fabric
