// Two nodes of QsNet: what is acknowledged, and thus fenced, is seen before all that follows it.
#include "fairlead/fabric/model/elan/elan_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {
namespace {

using LocalNic = ElanMachine::LocalNic;

// Several bursts of the bus, and one.
constexpr std::size_t kLong = 320;
constexpr std::size_t kShort = 8;

hw::Platform platform() {
  return std::move(hw::load_platform(FAIRLEAD_PLATFORMS "/qsnet-es40.toml").value());
}

struct Inbox {
  explicit Inbox(LocalNic& of) : nic(of) {
    Sink sink;
    sink.context = this;
    sink.arrived = [](void* self, const Incoming& in) {
      static_cast<Inbox*>(self)->words.push_back(in.header->client.words[0]);
      return Keep::no;
    };
    sink.copied = [](void* self, std::uint64_t, Post result) {
      EXPECT_EQ(result, Post::done);
      ++static_cast<Inbox*>(self)->ended;
    };
    nic.attach(sink);
  }
  void await(std::size_t packets, std::size_t copies) {
    while (words.size() < packets || ended < copies) {
      if (nic.reap(256, kAllLanes) == 0) nic.sleep(kNever);
    }
  }
  void send(std::uint32_t word, std::size_t size) {
    PacketHeader header{};
    header.client.kind = PacketKind::data;
    header.client.source = nic.self();
    header.client.size = static_cast<std::uint32_t>(size);
    header.client.words[0] = word;
    const std::vector<std::byte> data(size);
    const Piece piece{data.data(), size};
    while (nic.post(1 - nic.self(), header, {&piece, 1}) != Post::done) {
      (void)nic.reap(256, kAllLanes);
      nic.sleep(kNever);
    }
  }
  LocalNic& nic;
  std::vector<std::uint32_t> words;
  std::size_t ended = 0;
};

class ElanMachineTest : public ::testing::Test {
 protected:
  using Body = std::function<void(LocalNic&)>;

  ElanMachineTest() : machine_(platform(), EvenNodes::alone(2), 2) {
    pool_ = std::move(sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 2}).value());
  }
  // One body a node.
  void run(Body first, Body second) {
    Body bodies[2] = {std::move(first), std::move(second)};
    std::vector<std::unique_ptr<sim::Task>> tasks;
    for (Peer node = 0; node < 2; ++node) {
      tasks.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, node, node));
      machine_.run_on(node, *tasks.back());
      tasks.back()->user = &machine_.nic(node);
      ASSERT_TRUE(tasks.back()
                      ->start(
                          Ps{0},
                          [](sim::Task& task, void* body) {
                            (*static_cast<Body*>(body))(*static_cast<LocalNic*>(task.user));
                          },
                          &bodies[node])
                      .ok());
    }
    ASSERT_TRUE(machine_.engine().run_until_idle());
    // Expect: no body waits for what will never come.
    for (const auto& task : tasks) EXPECT_TRUE(task->done());
  }
  RemoteKey key_of(std::span<std::byte> memory) {
    return *machine_.nic(1).register_memory(memory, true, true);
  }

  ElanMachine machine_;
  std::unique_ptr<sim::FiberPool> pool_;
};

// The memory of rank 1 counts how often a long put filled it.
class Rounds {
 public:
  static constexpr std::uint64_t kCount = 50;

  Rounds() : memory(kLong / 8), local(kLong / 8) {}
  // A put that fills it, acknowledged.
  void put(LocalNic& nic, Inbox& box, const RemoteKey& key, std::uint64_t round) {
    std::fill(local.begin(), local.end(), round);
    ASSERT_EQ(nic.copy_remote({RemoteCopy::What::write, 1, key, 0,
                               std::as_writable_bytes(std::span(local)).data(), kLong, round}),
              Post::done);
    box.await(0, box.ended + 1);
  }
  bool is(std::uint64_t round) const {
    return std::count(memory.begin(), memory.end(), round) ==
           static_cast<std::ptrdiff_t>(memory.size());
  }
  std::vector<std::uint64_t> memory;
  std::vector<std::uint64_t> local;
};

TEST_F(ElanMachineTest, APacketIsSeenAfterThePutsAcknowledgedBeforeIt) {
  Rounds rounds;
  const RemoteKey key = key_of(std::as_writable_bytes(std::span(rounds.memory)));
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint64_t round = 1; round <= Rounds::kCount; ++round) {
          rounds.put(nic, box, key, round);
          box.send(static_cast<std::uint32_t>(round), 0);
          box.await(round, 0);
        }
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint64_t round = 1; round <= Rounds::kCount; ++round) {
          box.await(round, 0);
          EXPECT_TRUE(rounds.is(round)) << round;
          box.send(static_cast<std::uint32_t>(round), 0);
        }
      });
}

TEST_F(ElanMachineTest, AGetAndAnAtomicComeAfterThePutsAcknowledgedBeforeThem) {
  Rounds rounds;
  const RemoteKey key = key_of(std::as_writable_bytes(std::span(rounds.memory)));
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint64_t round = 1; round <= Rounds::kCount; ++round) {
          rounds.put(nic, box, key, round);
          std::uint64_t got = 0;
          std::uint64_t old = 0;
          if (round % 2 == 0) {
            ASSERT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, key, kLong - kShort,
                                       reinterpret_cast<std::byte*>(&got), kShort, 1}),
                      Post::done);
          } else {
            ASSERT_EQ(
                nic.change_remote({RemoteChange::What::add, 1, key, kLong - kShort, 0, 0, &old, 2}),
                Post::done);
          }
          box.await(0, box.ended + 1);
          EXPECT_EQ(got + old, round);
        }
      },
      [](LocalNic&) {});
}

TEST_F(ElanMachineTest, APageThatTheTlbLacksCostsAWalk) {
  const auto& ni = machine_.platform().ni.as<hw::ElanParams>();
  ASSERT_EQ(ni.tlb_entries, 16U);
  const std::uint64_t most = ni.tlb_entries + 1;
  std::vector<std::uint64_t> memory(most * ni.page_bytes / 8);
  const RemoteKey key = key_of(std::as_writable_bytes(std::span(memory)));
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        // The shortest time of an atomic or a get of words on so many pages in turn, each of which
        // was used before. The host's noise lengthens some.
        const auto shortest = [&](std::uint64_t pages, bool gets) {
          Ps best = kNever;
          std::uint64_t word = 0;
          for (std::uint64_t i = 0; i < 4 * pages; ++i) {
            const Ps begin = nic.now();
            const std::uint64_t offset = i % pages * ni.page_bytes;
            EXPECT_EQ(gets ? nic.copy_remote({RemoteCopy::What::read, 1, key, offset,
                                              reinterpret_cast<std::byte*>(&word), kShort, i})
                           : nic.change_remote(
                                 {RemoteChange::What::add, 1, key, offset, 1, 0, nullptr, i}),
                      Post::done);
            box.await(0, box.ended + 1);
            if (i >= pages) best = std::min(best, nic.now() - begin);
          }
          return best;
        };
        const Ps walk = time_for(ni.walk, ni.clock);
        for (const bool gets : {false, true}) {
          const Ps one = shortest(1, gets);
          // Expect: as many pages as there are entries are as good as one
          EXPECT_EQ(shortest(ni.tlb_entries, gets), one) << gets;
          // Expect: of one more each is gone when its turn comes
          EXPECT_EQ(shortest(most, gets), one + walk) << gets;
        }
      },
      [](LocalNic&) {});
  // Expect: and every atomic was done
  for (std::uint64_t page = 0; page < most; ++page) {
    EXPECT_EQ(memory[page * ni.page_bytes / 8], page == 0 ? 12U : page == 16 ? 4U : 8U) << page;
  }
}

// Nobody frees the slots of a queue whose rank has ended, in which there is room for so many.
TEST_F(ElanMachineTest, WhatFindsNoSlotAtARankThatHasEndedIsDropped) {
  const std::uint32_t slots = machine_.platform().ni.as<hw::ElanParams>().slots;
  std::uint32_t sent = 0;
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (; sent < 2 * slots; ++sent) box.send(sent, kShort);
        machine_.rank_ended(0);
      },
      // Expect: run() sees the machine come to rest
      [&](LocalNic&) { machine_.rank_ended(1); });
  EXPECT_EQ(sent, 2 * slots);
}

TEST_F(ElanMachineTest, PacketsStayInOrderWhateverTheirLength) {
  constexpr std::uint32_t kCount = 200;
  run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        // Some longer than a burst with their entries, others shorter, and entries alone.
        for (std::uint32_t i = 0; i < kCount; ++i) box.send(i, i * 8 % 200);
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        box.await(kCount, 0);
        for (std::uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(box.words[i], i);
      });
}

}  // namespace
}  // namespace fairlead::fabric::model
