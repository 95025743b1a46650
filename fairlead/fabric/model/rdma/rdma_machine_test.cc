// Two nodes of a machine of round numbers: packets, copies and atomics with their times.
#include "fairlead/fabric/model/rdma/rdma_machine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "fairlead/fabric/model/nic_inbox.h"
#include "fairlead/hw/test_platform.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {
namespace {

using LocalNic = RdmaMachine::LocalNic;

class RdmaMachineTest : public ::testing::Test {
 protected:
  using Body = std::function<void(LocalNic&)>;

  explicit RdmaMachineTest(hw::Platform platform = hw::round_rdma_platform())
      : machine_(std::move(platform), EvenNodes::alone(2), 2) {
    pool_ = std::move(sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 2}).value());
  }
  // One body a node.
  void run(Body first, Body second) {
    bodies_[0] = std::move(first);
    bodies_[1] = std::move(second);
    for (Peer node = 0; node < 2; ++node) {
      tasks_.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, node, node));
      machine_.run_on(node, *tasks_.back());
      tasks_.back()->user = &machine_.nic(node);
      ASSERT_TRUE(tasks_.back()
                      ->start(
                          Ps{0},
                          [](sim::Task& task, void* body) {
                            (*static_cast<Body*>(body))(*static_cast<LocalNic*>(task.user));
                          },
                          &bodies_[node])
                      .ok());
    }
    ASSERT_TRUE(machine_.engine().run_until_idle());
    // Expect: no body waits for what will never come.
    for (const auto& task : tasks_) EXPECT_TRUE(task->done());
  }

  RdmaMachine machine_;
  std::unique_ptr<sim::FiberPool> pool_;
  Body bodies_[2];
  std::vector<std::unique_ptr<sim::Task>> tasks_;
};

TEST_F(RdmaMachineTest, ASmallPacketTakesEveryStageOnce) {
  Ps sent{};
  Ps seen{};
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        const auto data = numbered(16);
        const Piece piece{data.data(), data.size()};
        EXPECT_EQ(nic.post(1, header(0, 0, 77, 16), {&piece, 1}), Post::done);
        sent = nic.now();
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        box.await(1, 0);
        EXPECT_EQ(box.items[0].word, 77u);
        EXPECT_EQ(box.items[0].data, numbered(16));
        seen = box.items[0].at;
      });
  // Expect: 10 ns of library and two stored lines; then 80 bytes and a lane's overhead, its
  // latency, the entry, the packet; the wire; the packet again, and it with its completion in host
  // memory; one look and the packet's own time.
  EXPECT_EQ(sent, nanoseconds(10 + 60));
  const std::int64_t on_wire = 70 + 90 + 200 + 40 + 20;
  const std::int64_t there = on_wire + 200 + 100 + (20 + 16) * 10;
  const std::int64_t visible = there + 20 + (16 + 32 + 10) + 200;
  EXPECT_EQ(seen, nanoseconds(visible + 5 + 15));
}

TEST_F(RdmaMachineTest, ALongerPacketIsFetched) {
  Ps seen{};
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        const auto data = numbered(100);
        const Piece piece{data.data(), data.size()};
        EXPECT_EQ(nic.post(1, header(0, 0, 1, 100), {&piece, 1}), Post::done);
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        box.await(1, 0);
        EXPECT_EQ(box.items[0].data, numbered(100));
        seen = box.items[0].at;
      });
  // Expect: a copy of 100 bytes at 1 GB/s, a doorbell of one line, then two reads of host memory
  // before the packet can leave: its entry and its payload.
  const std::int64_t rung = 100 + 10 + 30 + 18 + 200 + 40;
  const std::int64_t read_entry = 10 + 200 + 50 + 74 + 200;
  const std::int64_t read_payload = 10 + 200 + 50 + 110 + 200;
  const std::int64_t there = rung + read_entry + read_payload + 20 + 200 + 100 + (20 + 100) * 10;
  EXPECT_EQ(seen, nanoseconds(there + 20 + (132 + 20) + 200 + 5 + 15));
}

TEST_F(RdmaMachineTest, PacketsStayInOrderWhateverTheirLengthAndWaitForBuffers) {
  constexpr std::uint32_t kCount = 200;
  std::uint32_t refused = 0;
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint32_t i = 0; i < kCount; ++i) {
          const auto data = numbered(i % 3 == 0 ? 700 : i % 32);
          const Piece piece{data.data(), data.size()};
          for (;;) {
            const Post answer = nic.post(1, header(0, 1, i, data.size()), {&piece, 1});
            if (answer == Post::done) break;
            ASSERT_EQ(answer, Post::again_credit);
            ++refused;
            (void)nic.reap(256, kAllLanes);
            nic.sleep(kNever);
          }
        }
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        nic.sleep(milliseconds(3));
        nic.work({3'000'000, 0, 0, 0});
        // Expect: a host that computes gets no more than its buffers; the rest waits.
        EXPECT_EQ(nic.reap(1000, kAllLanes), 4);
        box.await(kCount, 0);
        for (std::uint32_t i = 0; i < kCount; ++i) {
          ASSERT_EQ(box.items[i].word, i);
          ASSERT_EQ(box.items[i].data, numbered(i % 3 == 0 ? 700 : i % 32));
        }
      });
  EXPECT_GT(refused, 0u);
}

TEST_F(RdmaMachineTest, CopiesAndAtomicsReachRegisteredMemoryWithoutItsHost) {
  std::vector<std::byte> memory(10000);
  std::uint64_t word = 5;
  const std::optional<RemoteKey> key = machine_.nic(1).register_memory(memory, true, true);
  const std::optional<RemoteKey> word_key =
      machine_.nic(1).register_memory(std::as_writable_bytes(std::span(&word, 1)), true, true);
  std::vector<std::byte> got(10000);
  std::uint64_t old[3] = {};
  using Change = RemoteChange::What;
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        auto data = numbered(9000);
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::write, 1, *key, 1000, data.data(), 9000, 1}),
                  Post::done);
        box.await(0, 1);
        // Expect: a write that ended can be seen.
        EXPECT_EQ(std::memcmp(&memory[1000], data.data(), 9000), 0);
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, *key, 0, got.data(), 10000, 2}),
                  Post::done);
        EXPECT_EQ(nic.change_remote({Change::add, 1, *word_key, 0, 3, 0, &old[0], 3}), Post::done);
        box.await(0, 3);
        EXPECT_EQ(nic.change_remote({Change::compare_swap, 1, *word_key, 0, 8, 20, &old[1], 4}),
                  Post::done);
        EXPECT_EQ(nic.change_remote({Change::bit_xor, 1, *word_key, 0, 1, 0, &old[2], 5}),
                  Post::done);
        box.await(0, 5);
        for (const Inbox::End& end : box.ended) EXPECT_EQ(end.result, Post::done) << end.token;
      },
      [](LocalNic&) {});
  EXPECT_EQ(got, memory);
  EXPECT_EQ(old[0], 5u);
  EXPECT_EQ(old[1], 8u);
  EXPECT_EQ(old[2], 20u);
  EXPECT_EQ(word, 21u);
}

TEST_F(RdmaMachineTest, TheResponderRefusesWhatAKeyDoesNotReach) {
  std::vector<std::byte> memory(4096);
  const std::optional<RemoteKey> read_only = machine_.nic(1).register_memory(memory, true, false);
  const std::optional<RemoteKey> gone = machine_.nic(1).register_memory(memory, true, true);
  machine_.nic(1).forget_memory(*gone);
  std::vector<std::byte> local(5000, std::byte{9});
  using What = RemoteCopy::What;
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        std::uint64_t old = 0;
        EXPECT_EQ(nic.copy_remote({What::write, 1, *read_only, 0, local.data(), 4096, 1}),
                  Post::done);
        EXPECT_EQ(nic.copy_remote({What::read, 1, *read_only, 0, local.data(), 4097, 2}),
                  Post::done);
        EXPECT_EQ(nic.copy_remote({What::read, 1, *gone, 0, local.data(), 8, 3}), Post::done);
        EXPECT_EQ(nic.change_remote({RemoteChange::What::add, 1, *read_only, 0, 1, 0, &old, 4}),
                  Post::done);
        // Expect: no more than so many at a time.
        EXPECT_EQ(nic.copy_remote({What::read, 1, *read_only, 0, local.data(), 8, 5}),
                  Post::again_credit);
        box.await(0, 4);
        for (const Inbox::End& end : box.ended) EXPECT_EQ(end.result, Post::denied) << end.token;
        EXPECT_EQ(nic.copy_remote({What::read, 1, *read_only, 0, local.data(), 8, 6}), Post::done);
        box.await(0, 5);
        EXPECT_EQ(box.ended.back().result, Post::done);
      },
      [](LocalNic&) {});
  // Expect: nothing was written at the target.
  EXPECT_EQ(memory, std::vector<std::byte>(4096));
}

TEST_F(RdmaMachineTest, AWriteWakesWhoSleeps) {
  std::uint64_t word = 0;
  const std::optional<RemoteKey> key =
      machine_.nic(1).register_memory(std::as_writable_bytes(std::span(&word, 1)), true, true);
  Ps woke{};
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        std::uint64_t one = 1;
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::write, 1, *key, 0, &one, 8, 1}), Post::done);
        box.await(0, 1);
      },
      [&](LocalNic& nic) {
        while (word == 0) nic.sleep(kNever);
        woke = nic.now();
      });
  // Expect: as soon as it is there: entry and payload fetched, the wire, the key looked up.
  const std::int64_t rung = 10 + 30 + 18 + 200 + 40;
  const std::int64_t read_entry = 10 + 200 + 50 + 74 + 200;
  const std::int64_t read_payload = 10 + 200 + 50 + 18 + 200;
  EXPECT_EQ(woke, nanoseconds(rung + read_entry + read_payload + 20 + 200 + 100 + 28 * 10 + 50 +
                              18 + 200));
}

// Interrupts of 10 us, on nodes of two processors.
hw::Platform with_interrupts(hw::HostParams::Handler handler) {
  hw::Platform platform = hw::round_rdma_platform();
  hw::RdmaParams ni = platform.ni.as<hw::RdmaParams>();
  ni.interrupts = true;
  platform.ni = hw::AnyPart(std::make_unique<hw::RdmaParams>(ni));
  platform.host.processors = 2;
  platform.host.handler = handler;
  return platform;
}

// When the packets of ASmallPacketTakesEveryStageOnce can be seen.
constexpr std::int64_t kVisibleNs = 1358;
constexpr std::int64_t kInterruptNs = 10'000;
constexpr std::int64_t kLookNs = 5;
constexpr std::int64_t kReceiveNs = 15;

class Interrupted : public RdmaMachineTest {
 protected:
  explicit Interrupted(hw::HostParams::Handler handler)
      : RdmaMachineTest(with_interrupts(handler)) {}

  static void post(LocalNic& nic, std::uint32_t word, bool solicited) {
    post_marked(nic, word, solicited ? kSolicitedMark : 0);
  }
  static void post_marked(LocalNic& nic, std::uint32_t word, std::uint32_t mark) {
    const auto data = numbered(16);
    const Piece piece{data.data(), data.size()};
    PacketHeader front = header(0, 0, word, 16);
    front.ack = mark;
    EXPECT_EQ(nic.post(1, front, {&piece, 1}), Post::done);
  }
  // The second host computes for 100 us, and one packet comes meanwhile: tells when its handler
  // runs, and when the work is done.
  void compute(Ps* handled, Ps* done) {
    run([](LocalNic& nic) { post(nic, 7, false); },
        [handled, done](LocalNic& nic) {
          Inbox box(nic);
          nic.wake(Ps{0});
          const Ps before = nic.compute(microseconds(100), false);
          EXPECT_EQ(before, nanoseconds(kVisibleNs));
          nic.serve(true);
          EXPECT_EQ(nic.reap(256, kAllLanes), 1);
          nic.served();
          *handled = box.items.at(0).at;
          EXPECT_EQ(nic.compute(microseconds(100) - before, false), microseconds(100) - before);
          *done = nic.now();
          EXPECT_EQ(nic.counters().interrupts, 1u);
        });
  }
};
class InterruptedBeside : public Interrupted {
 protected:
  InterruptedBeside() : Interrupted(hw::HostParams::kAutomatic) {}
  // A packet that is so marked interrupts the second host's work `later` than it can be seen, with
  // a watchdog of 20 us.
  void comes_after(std::uint32_t mark, Ps later) {
    run([mark](LocalNic& nic) { post_marked(nic, 7, mark); },
        [later](LocalNic& nic) {
          Inbox box(nic);
          nic.wake(microseconds(20));
          EXPECT_EQ(nic.compute(microseconds(100), false), nanoseconds(kVisibleNs) + later);
          nic.serve(true);
          EXPECT_EQ(nic.reap(256, kAllLanes), 1);
          nic.served();
        });
  }
};
class InterruptedSame : public Interrupted {
 protected:
  InterruptedSame() : Interrupted(hw::HostParams::kSame) {}
};

TEST_F(InterruptedBeside, AHandlerBesideTheRankTakesNothingFromIt) {
  Ps handled{};
  Ps done{};
  compute(&handled, &done);
  EXPECT_EQ(handled, nanoseconds(kVisibleNs + kInterruptNs + kLookNs + kReceiveNs));
  EXPECT_EQ(done, microseconds(100));
}

TEST_F(InterruptedSame, AHandlerOnTheRanksProcessorTakesItsPriceFromIt) {
  Ps handled{};
  Ps done{};
  compute(&handled, &done);
  EXPECT_EQ(handled, nanoseconds(kVisibleNs + kInterruptNs + kLookNs + kReceiveNs));
  EXPECT_EQ(done, microseconds(100) + nanoseconds(kInterruptNs + kLookNs + kReceiveNs));
}

TEST_F(InterruptedBeside, WhoWaitsIsInterruptedForWhatAsksForAProcessor) {
  run(
      [](LocalNic& nic) {
        post(nic, 1, true);
        post(nic, 2, true);
      },
      [](LocalNic& nic) {
        Inbox box(nic);
        nic.wake(Ps{0});
        box.await(2, 0);
        // Expect: the second comes while the handler is at work, and interrupts nobody.
        EXPECT_EQ(box.items[0].at, nanoseconds(kVisibleNs + kInterruptNs + kReceiveNs));
        EXPECT_EQ(box.items[1].at - box.items[0].at, nanoseconds(kLookNs + kReceiveNs));
        EXPECT_EQ(nic.counters().interrupts, 1u);
        nic.wake(kNever);
      });
}

TEST_F(InterruptedBeside, APacketWaitsForTheWatchdog) { comes_after(0, microseconds(20)); }

TEST_F(InterruptedBeside, AnUrgentPacketDoesNotWaitForTheWatchdog) {
  comes_after(kUrgentMark, Ps{0});
}

TEST_F(InterruptedBeside, WhatTheHandlerPostsLeavesAtItsTime) {
  Ps answered{};
  Ps work_done{};
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        post(nic, 1, true);
        box.await(1, 0);
        answered = box.items[0].at;
      },
      [&](LocalNic& nic) {
        nic.wake(Ps{0});
        Sink sink;
        sink.context = &nic;
        sink.arrived = [](void* self, const Incoming&) {
          const auto data = numbered(16);
          const Piece piece{data.data(), data.size()};
          EXPECT_EQ(static_cast<LocalNic*>(self)->post(0, header(1, 1, 9, 16), {&piece, 1}),
                    Post::done);
          return Keep::no;
        };
        nic.attach(sink);
        // A little more work than until the packet is there: the handler is at work when it ends.
        const Ps before = nic.compute(nanoseconds(kVisibleNs + 100), false);
        nic.serve(true);
        (void)nic.reap(256, kAllLanes);
        nic.served();
        (void)nic.compute(nanoseconds(kVisibleNs + 100) - before, false);
        work_done = nic.now();
      });
  EXPECT_EQ(work_done, nanoseconds(kVisibleNs + 100));
  // Expect: as long on its way as the first, of which kVisibleNs is from its post, looked at and
  // taken up there.
  EXPECT_EQ(answered, nanoseconds(2 * kVisibleNs + kInterruptNs + 2 * (kLookNs + kReceiveNs)));
}

}  // namespace
}  // namespace fairlead::fabric::model
