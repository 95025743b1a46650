#include "fairlead/lci/paths/path_nic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fairlead/lci/direct/fake_nic.h"

namespace fairlead::lci {
namespace {

// A way to all of three ranks, from rank 0.
class Way final : public PacketsOnlyNic {
 public:
  explicit Way(std::uint64_t flags) : PacketsOnlyNic(0, 3, 2048), flagged_{2048, 96, flags} {}

  const fabric::NicCaps& caps(Peer) const override { return flagged_; }
  Post post(Peer dest, const fabric::PacketHeader&, std::span<const Piece>) override {
    posted.push_back(dest);
    return Post::done;
  }
  int reap(int budget, fabric::LaneMask) override {
    ++reaps;
    const int came = std::min(budget, waiting);
    waiting -= came;
    return came;
  }
  Post read_peer(Peer peer, std::uint64_t, void*, std::size_t) override {
    read.push_back(peer);
    return Post::done;
  }
  std::span<std::byte> region(Peer) override { return memory; }

  std::vector<Peer> posted, read;
  int reaps = 0, waiting = 0;
  std::vector<std::byte> memory = std::vector<std::byte>(64);

 private:
  const fabric::NicCaps flagged_;
};

// Rank 1 is on this node, rank 2 on another.
class PathNicTest : public testing::Test {
 protected:
  Way node_{fabric::kReliable | fabric::kMappable | fabric::kSingleCopy};
  Way network_{fabric::kReliable | fabric::kRemoteMemory};
  std::unique_ptr<fabric::Nic> nic_ = make_path_nic(node_, network_, {true, true, false});
};

TEST_F(PathNicTest, EachPeerHasTheWaysOfItsFabric) {
  EXPECT_EQ(nic_->caps(1).flags, fabric::kReliable | fabric::kMappable | fabric::kSingleCopy);
  EXPECT_EQ(nic_->caps(2).flags, fabric::kReliable | fabric::kRemoteMemory);
  EXPECT_EQ(nic_->region(1).data(), node_.memory.data());
  EXPECT_TRUE(nic_->region(2).empty());
  EXPECT_TRUE(nic_->region(3).empty());
  std::uint64_t word = 0;
  EXPECT_EQ(nic_->read_peer(1, 0, &word, 8), Post::done);
  EXPECT_EQ(nic_->read_peer(2, 0, &word, 8), Post::not_delivered);
  EXPECT_EQ(nic_->read_peer(3, 0, &word, 8), Post::not_delivered);
  EXPECT_EQ(node_.read, std::vector<Peer>{1});
  EXPECT_TRUE(network_.read.empty());
  for (const Peer peer : {0u, 1u, 2u}) EXPECT_EQ(nic_->post(peer, {}, {}), Post::done);
  EXPECT_EQ(nic_->post(3, {}, {}), Post::invalid);
  EXPECT_EQ(node_.posted, (std::vector<Peer>{0, 1}));
  EXPECT_EQ(network_.posted, std::vector<Peer>{2});
}

// A look at the network is a system call: not with each packet of the node, but soon.
TEST_F(PathNicTest, TheNetworkIsLookedAtWhileTheNodeKeepsTalking) {
  nic_->reap(256, fabric::kAllLanes);
  EXPECT_EQ(network_.reaps, 1);
  constexpr int kTalks = 1000;
  for (int i = 0; i < kTalks; ++i) {
    node_.waiting = 1;
    EXPECT_EQ(nic_->reap(256, fabric::kAllLanes), 1);
  }
  EXPECT_GE(network_.reaps, kTalks / 20);
  EXPECT_LE(network_.reaps, kTalks / 10);
  const int before = network_.reaps;
  node_.waiting = 200;
  EXPECT_EQ(nic_->reap(256, fabric::kAllLanes), 200);
  EXPECT_EQ(network_.reaps, before + 1);
  network_.waiting = 3;
  EXPECT_EQ(nic_->reap(256, fabric::kAllLanes), 3);
}

}  // namespace
}  // namespace fairlead::lci
