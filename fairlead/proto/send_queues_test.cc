#include "fairlead/proto/send_queues.h"

#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

TEST(SendQueues, FifoPerPeer) {
  SendQueues queues(3, 4);
  EXPECT_TRUE(queues.push(0, 10));
  EXPECT_TRUE(queues.push(2, 20));
  EXPECT_TRUE(queues.push(0, 11));
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

TEST(SendQueues, FullKeepsTheItemWithTheCallerAndRecovers) {
  SendQueues queues(2, 2);
  EXPECT_TRUE(queues.push(0, 1));
  EXPECT_TRUE(queues.push(1, 2));
  EXPECT_FALSE(queues.push(0, 3));
  queues.pop(1);
  EXPECT_TRUE(queues.push(0, 3));
  queues.pop(0);
  EXPECT_EQ(queues.front(0), 3u);
}

}  // namespace
}  // namespace fairlead::proto
