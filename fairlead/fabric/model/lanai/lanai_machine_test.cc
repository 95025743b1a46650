// One message through a modelled machine of round numbers, every nanosecond accounted for.
#include "fairlead/fabric/model/lanai/lanai_machine.h"

#include <gtest/gtest.h>

#include <functional>

#include "fairlead/fabric/model/lanai/test_mover.h"
#include "fairlead/hw/test_platform.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {
namespace {

class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    for (Peer node = 0; node < 2; ++node) {
      machine_.ni(node).load(kTestMover, &machine_.ni(node));
      tasks_.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, node, node));
      machine_.host(node).run_on(*tasks_[node]);
    }
  }
  // Node 0 runs `send`; returns when node 1's host sees what came.
  Ps one_way(std::function<void(ModelHostNi&)> send) {
    send_ = std::move(send);
    EXPECT_TRUE(tasks_[0]
                    ->start(
                        Ps{0},
                        [](sim::Task&, void* self) {
                          auto* test = static_cast<MachineTest*>(self);
                          test->send_(test->machine_.host(0));
                        },
                        this)
                    .ok());
    EXPECT_TRUE(tasks_[1]
                    ->start(
                        Ps{0},
                        [](sim::Task&, void* self) {
                          auto* test = static_cast<MachineTest*>(self);
                          ModelHostNi& host = test->machine_.host(1);
                          host.block(kNever, "the message");
                          PacketId id = 0;
                          EXPECT_TRUE(host.reap_receive(&id));
                          test->seen_ = host.now();
                          test->size_ = host.packet(id).header.client.size;
                          host.release(id);
                        },
                        this)
                    .ok());
    EXPECT_TRUE(machine_.engine().run_until_idle());
    EXPECT_EQ(machine_.engine().blocked(), 0u);
    return seen_;
  }

  LanaiMachine machine_{hw::round_platform(), EvenNodes::alone(2), 2, 256};
  std::unique_ptr<sim::FiberPool> pool_ =
      std::move(sim::FiberPool::create({.stack_bytes = 64 * 1024, .max_fibers = 2}).value());
  std::vector<std::unique_ptr<sim::Task>> tasks_;
  std::function<void(ModelHostNi&)> send_;
  Ps seen_{};
  std::uint32_t size_ = 0;
};

TEST_F(MachineTest, AMessageByProgrammedWrites) {
  const Ps seen = one_way([](ModelHostNi& host) {
    PacketId id = 0;
    ASSERT_TRUE(host.alloc(32, 0, &id));
    host.packet(id).peer = 1;
    host.packet(id).header.client.size = 32;
    host.write(32);
    host.post(id, 1);
    // Expect: one line and one descriptor issued, both still on their way over the bus
    EXPECT_EQ(host.now(), nanoseconds(200));
  });
  // Expect: 200 issue, 500 doorbell; 200 + 100 + 520 for 52 bytes through one switch; 1400 for the
  // DMA of 48 bytes, 1000 until it is seen as done, 500 until the host's poll sees the flag
  EXPECT_EQ(seen, nanoseconds(700 + 820 + 1400 + 1000 + 500));
  EXPECT_EQ(size_, 32u);
}

TEST_F(MachineTest, AMessageByDma) {
  const Ps seen = one_way([](ModelHostNi& host) {
    PacketId id = 0;
    ASSERT_TRUE(host.alloc(32, 0, &id));
    host.packet(id).peer = 1;
    host.packet(id).header.client.size = 32;
    host.packet(id).fetch_bytes = 32;
    host.post(id, 2);
    EXPECT_EQ(host.now(), nanoseconds(200));
  });
  // Expect: the same, and before it 1200 for the fetch of 32 bytes and 1000 until it is seen
  EXPECT_EQ(seen, nanoseconds(700 + 2200 + 820 + 1400 + 1000 + 500));
}

TEST_F(MachineTest, SendBuffersAreCounted) {
  (void)one_way([](ModelHostNi& host) {
    std::vector<PacketId> ids;
    PacketId id = 0;
    while (host.alloc(32, 4, &id)) ids.push_back(id);
    // Expect: 16 on the round platform, less the reserve
    EXPECT_EQ(ids.size(), 12u);
    EXPECT_TRUE(host.alloc(32, 0, &id));
    host.cancel(id);
    for (const PacketId each : ids) host.cancel(each);
    EXPECT_EQ(host.send_buffers_free(), 16u);
    ASSERT_TRUE(host.alloc(0, 0, &id));
    host.packet(id).peer = 1;
    host.post(id, 1);
  });
}

// Two ranks on one node.
class SharedNodeTest : public testing::Test {
 public:
  SharedNodeTest() {
    machine_.ni(0).load(kTestMover, &machine_.ni(0));
    for (Rank rank = 0; rank < 2; ++rank) {
      tasks_.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, 0, rank));
      machine_.host(rank).run_on(*tasks_[rank]);
    }
  }
  void run(sim::Task::Body first, sim::Task::Body second) {
    EXPECT_TRUE(tasks_[0]->start(Ps{0}, first, this).ok());
    EXPECT_TRUE(tasks_[1]->start(Ps{0}, second, this).ok());
    EXPECT_TRUE(machine_.engine().run_until_idle());
    EXPECT_EQ(machine_.engine().blocked(), 0u);
  }

  LanaiMachine machine_{hw::round_platform(), {2, 2}, 1, 256};
  std::unique_ptr<sim::FiberPool> pool_ =
      std::move(sim::FiberPool::create({.stack_bytes = 64 * 1024, .max_fibers = 2}).value());
  std::vector<std::unique_ptr<sim::Task>> tasks_;
  Ps came_{};
  Ps read_{};
};

TEST_F(SharedNodeTest, AMessageToANearRankTakesItsCopyAndItsLines) {
  const auto sends = [](sim::Task&, void* self) {
    ModelHostNi& host = static_cast<SharedNodeTest*>(self)->machine_.host(0);
    EXPECT_TRUE(host.near(1));
    PacketId id = 0;
    ASSERT_TRUE(host.alloc_near(96, 0, &id));
    // Expect: a buffer in host memory, and none of the NI's
    EXPECT_EQ(host.near_buffers_free(), LanaiShares::kNearBuffers - 1);
    EXPECT_EQ(host.send_buffers_free(), host.shares().send_buffers);
    host.packet(id).header.client.size = 96;
    host.packet(id).peer = 1;
    host.post_near(id, 96);
    host.block(kNever, "the buffer's return");
    EXPECT_EQ(host.near_buffers_free(), LanaiShares::kNearBuffers);
  };
  const auto receives = [](sim::Task&, void* self) {
    auto* test = static_cast<SharedNodeTest*>(self);
    ModelHostNi& host = test->machine_.host(1);
    host.block(kNever, "the message");
    PacketId id = 0;
    ASSERT_TRUE(host.reap_receive(&id));
    test->came_ = host.now();
    EXPECT_EQ(host.packet(id).peer, 0u);
    host.read_near(id);
    test->read_ = host.now();
    host.release(id);
  };
  run(sends, receives);
  // Expect: 96 bytes copied at half a byte a nanosecond, then one line from memory
  EXPECT_EQ(came_, nanoseconds(192 + 100));
  // Expect: three more lines of header and data
  EXPECT_EQ(read_, came_ + nanoseconds(300));
}

TEST_F(SharedNodeTest, TheRanksHaveSharesOfTheNisBuffers) {
  const hw::LanaiParams& ni = machine_.params();
  for (Rank rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(machine_.host(rank).send_buffers_free(), ni.send_buffers / 2 / 4 * 4);
  }
  // Expect: words of the same segment are each rank's own
  ASSERT_TRUE(machine_.host(0).add_ni_words(7, 1));
  ASSERT_TRUE(machine_.host(1).add_ni_words(7, 1));
  *machine_.host(0).ni_word(7, 0) = 5;
  EXPECT_EQ(*machine_.host(1).ni_word(7, 0), 0u);
}

}  // namespace
}  // namespace fairlead::fabric::model
