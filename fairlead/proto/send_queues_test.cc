#include "fairlead/proto/send_queues.h"

#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

TEST(SendQueues, FifoPerPeer) {
  SendQueues queues;
  queues.push(0, 10);
  queues.push(2, 20);
  queues.push(0, 11);
  // Expect: each peer sees its own order.
  EXPECT_EQ(queues.front(0), 10u);
  queues.pop(0);
  EXPECT_EQ(queues.front(0), 11u);
  EXPECT_EQ(queues.front(2), 20u);
  EXPECT_TRUE(queues.empty(1));
  queues.pop(0);
  EXPECT_TRUE(queues.empty(0));
  EXPECT_EQ(queues.size(), 1u);
}

TEST(SendQueues, ItemsOfManyPeersKeepTheirOrder) {
  SendQueues queues;
  for (std::uint32_t round = 0; round < 50; ++round) {
    for (Peer peer = 0; peer < 40; ++peer) queues.push(peer * 1000, round * 100 + peer);
  }
  EXPECT_EQ(queues.size(), 50u * 40);
  for (Peer peer = 40; peer-- > 0;) {
    for (std::uint32_t round = 0; round < 50; ++round) {
      ASSERT_EQ(queues.front(peer * 1000), round * 100 + peer);
      queues.pop(peer * 1000);
    }
    EXPECT_TRUE(queues.empty(peer * 1000));
  }
}

}  // namespace
}  // namespace fairlead::proto
