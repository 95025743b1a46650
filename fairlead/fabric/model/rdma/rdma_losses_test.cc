// Two nodes whose links lose packets: what is sent again, and that everything happens once.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/fabric/model/nic_inbox.h"
#include "fairlead/fabric/model/rdma/rdma_machine.h"
#include "fairlead/hw/test_platform.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {
namespace {

using LocalNic = RdmaMachine::LocalNic;

constexpr std::size_t kSecondPage = 4096 / sizeof(std::uint64_t);

hw::Platform with(const std::function<void(hw::RdmaParams&)>& change) {
  hw::Platform platform = hw::round_rdma_platform();
  hw::RdmaParams ni = platform.ni.as<hw::RdmaParams>();
  change(ni);
  platform.ni = hw::AnyPart(std::make_unique<hw::RdmaParams>(ni));
  return platform;
}

hw::Platform that_repeats(Ps after = microseconds(30)) {
  return with([after](hw::RdmaParams& ni) {
    ni.ack_timeout = after;
    ni.retries = 7;
  });
}

class Nodes {
 public:
  using Body = std::function<void(LocalNic&)>;

  explicit Nodes(hw::Platform platform, const std::string& faults = {}, std::uint64_t seed = 1)
      : machine_(std::move(platform), EvenNodes::alone(2), 2) {
    pool_ = std::move(sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 2}).value());
    if (faults.empty()) return;
    const auto plan = parse_fault_plan(faults, seed);
    EXPECT_TRUE(plan.ok());
    const auto set = machine_.set_faults(plan.value());
    EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().text);
  }
  RdmaMachine& machine() { return machine_; }
  LocalNic& nic(Peer node) { return machine_.nic(node); }
  std::uint64_t repeated() { return machine_.ni(0).repeated() + machine_.ni(1).repeated(); }

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
    for (const auto& task : tasks_) EXPECT_TRUE(task->done());
  }

 private:
  RdmaMachine machine_;
  std::unique_ptr<sim::FiberPool> pool_;
  Body bodies_[2];
  std::vector<std::unique_ptr<sim::Task>> tasks_;
};

// Packets both ways, and copies and atomics of one side, where `faults` happen.
void everything_happens_once(const std::string& faults, std::uint64_t seed) {
  SCOPED_TRACE(faults + ", seed " + std::to_string(seed));
  constexpr std::uint32_t kPackets = 60;
  constexpr std::uint32_t kRounds = 12;
  // A window of packets takes 700 us on these links.
  Nodes nodes(that_repeats(microseconds(2000)), faults, seed);
  std::vector<std::byte> memory(20000);
  std::uint64_t word = 0;
  const auto key = nodes.nic(1).register_memory(memory, true, true);
  const auto word_key =
      nodes.nic(1).register_memory(std::as_writable_bytes(std::span(&word, 1)), true, true);
  const auto read_only = nodes.nic(1).register_memory(memory, true, false);
  const auto check = [&](const Inbox& box) {
    ASSERT_EQ(box.items.size(), kPackets);
    for (std::uint32_t i = 0; i < kPackets; ++i) {
      ASSERT_EQ(box.items[i].word, i);
      ASSERT_EQ(box.items[i].data, numbered(i % 4 == 0 ? 800 : i % 30));
    }
  };
  nodes.run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        std::vector<std::byte> got(9000);
        std::size_t ended = 0;
        for (std::uint32_t i = 0; i < kRounds; ++i) {
          auto data = numbered(9000);
          data[0] = static_cast<std::byte>(i);
          std::uint64_t old = 0;
          RemoteCopy write{RemoteCopy::What::write, 1, *key, i * 100, data.data(), 9000, 3 * i + 1};
          write.tells = true;
          write.immediate = 100 + i;
          EXPECT_EQ(nic.copy_remote(write), Post::done);
          EXPECT_EQ(
              nic.change_remote({RemoteChange::What::add, 1, *word_key, 0, 1, 0, &old, 3 * i + 2}),
              Post::done);
          for (std::uint32_t k = 0; k < kPackets / kRounds; ++k) {
            const std::uint32_t n = i * (kPackets / kRounds) + k;
            box.send(1, n, n % 4 == 0 ? 800 : n % 30);
          }
          box.await(0, ended += 2);
          EXPECT_EQ(old, i);
          EXPECT_EQ(nic.copy_remote(
                        {RemoteCopy::What::read, 1, *key, i * 100, got.data(), 9000, 3 * i + 3}),
                    Post::done);
          box.await(0, ++ended);
          EXPECT_EQ(got, data);
          EXPECT_EQ(box.ended.back().result, Post::done);
        }
        // Expect: what a key does not allow is refused here, too.
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::write, 1, *read_only, 0, got.data(), 5000, 1}),
                  Post::done);
        box.await(kPackets, ended + 1);
        EXPECT_EQ(box.ended.back().result, Post::denied);
        check(box);
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint32_t i = 0; i < kPackets; ++i) box.send(0, i, i % 4 == 0 ? 800 : i % 30);
        while (box.items.size() < kPackets || box.told.size() < kRounds) {
          if (nic.reap(256, kAllLanes) == 0) nic.sleep(kNever);
        }
        check(box);
        // Expect: each write told its number once, and in their order.
        for (std::uint32_t i = 0; i < kRounds; ++i) EXPECT_EQ(box.told.at(i), 100 + i);
      });
  EXPECT_EQ(word, kRounds);
  EXPECT_GT(nodes.repeated(), 0u);
}

TEST(RdmaLosses, EverythingHappensOnceWherePacketsAreLost) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) everything_happens_once("drop=0.05", seed);
}

TEST(RdmaLosses, EverythingHappensOnceWherePacketsBreakComeTwiceOrOutOfOrder) {
  everything_happens_once("corrupt=0.03", 1);
  everything_happens_once("reorder=0.03", 2);
  everything_happens_once("drop=0.03,dup=0.1,reorder=0.02,delay=20us:0.05", 3);
}

TEST(RdmaLosses, PacketsThatComeTwiceAreTakenOnce) {
  Nodes nodes(that_repeats(), "dup=1");
  nodes.run(
      [](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint32_t i = 0; i < 20; ++i) box.send(1, i, i);
      },
      [](LocalNic& nic) {
        Inbox box(nic);
        box.await(20, 0);
        EXPECT_EQ(box.items.size(), 20u);
      });
}

TEST(RdmaLosses, AFirstLossCostsTheTimeThatARequesterWaits) {
  Ps seen[2];
  for (const bool lossy : {false, true}) {
    // The second node has no link when the packet comes.
    Nodes nodes(that_repeats(), lossy ? "down=1@0us+2us" : "");
    nodes.run(
        [](LocalNic& nic) {
          Inbox box(nic);
          box.send(1, 7, 16);
        },
        [&](LocalNic& nic) {
          Inbox box(nic);
          box.await(1, 0);
          seen[lossy ? 1 : 0] = box.items[0].at;
        });
  }
  // Expect: as long from when the packet left (20 ns of it are the step that sends it).
  EXPECT_GE(seen[1] - seen[0], microseconds(30) - nanoseconds(20));
  EXPECT_LE(seen[1] - seen[0], microseconds(30));
}

TEST(RdmaLosses, AConnectionIsGivenUpAfterSoManyTries) {
  Nodes nodes(that_repeats(), "link=0-1:drop=1");
  std::vector<std::byte> memory(64);
  const auto key = nodes.nic(1).register_memory(memory, true, true);
  Ps lost{};
  nodes.run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        std::uint64_t word = 1;
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::write, 1, *key, 0, &word, 8, 1}), Post::done);
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, *key, 0, &word, 8, 2}), Post::done);
        box.await(0, 2);
        // Expect: each that was under way ends, and the peer is told to be lost once.
        for (const auto& end : box.ended) EXPECT_EQ(end.result, Post::denied);
        while (box.peers_lost == 0) {
          if (nic.reap(256, kAllLanes) == 0) nic.sleep(kNever);
        }
        lost = nic.now();
        // Expect: what follows ends at once.
        EXPECT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, *key, 0, &word, 8, 3}), Post::done);
        box.await(0, 3);
        EXPECT_EQ(box.ended.back().result, Post::denied);
        EXPECT_LT(nic.now() - lost, microseconds(5));
        EXPECT_EQ(box.peers_lost, 1);
      },
      [](LocalNic&) {});
  EXPECT_GE(lost, microseconds(8 * 30));
  EXPECT_LT(lost, microseconds(9 * 30));
  EXPECT_EQ(memory, std::vector<std::byte>(64));
}

TEST(RdmaLosses, InterfacesThatRepeatNothingRefuseAPlan) {
  RdmaMachine machine(hw::round_rdma_platform(), EvenNodes::alone(2), 2);
  const auto plan = parse_fault_plan("drop=0.1", 1);
  const auto set = machine.set_faults(plan.value());
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().text.find("ni.ack_timeout_us"), std::string::npos) << set.error().text;
}

// --- Tables

TEST(RdmaTables, AMissCostsARead) {
  const hw::Platform all = hw::round_rdma_platform();
  const hw::Platform few = with([](hw::RdmaParams& ni) {
    ni.contexts = 1;
    ni.context_bytes = 100;
  });
  std::vector<Ps> seen[2];
  for (const bool misses : {false, true}) {
    Nodes nodes(misses ? few : all);
    nodes.run(
        [](LocalNic& nic) {
          Inbox box(nic);
          for (std::uint32_t i = 0; i < 2; ++i) {
            box.send(1, i, 16);
            nic.sleep(microseconds(50));
          }
        },
        [&, misses](LocalNic& nic) {
          Inbox box(nic);
          box.await(2, 0);
          for (const auto& item : box.items) seen[misses ? 1 : 0].push_back(item.at);
        });
  }
  // Expect: each of both interfaces reads the context once: a request and 100 bytes over lanes.
  constexpr std::int64_t kRead = 10 + 200 + 50 + 110 + 200;
  EXPECT_EQ(seen[1][0] - seen[0][0], nanoseconds(2 * kRead));
  // Expect: and never again.
  EXPECT_EQ(seen[1][1] - seen[1][0], seen[0][1] - seen[0][0] - nanoseconds(2 * kRead));
}

TEST(RdmaTables, CopiesReadTranslationsByTheLine) {
  Nodes nodes(with([](hw::RdmaParams& ni) {
    ni.translations = 64;
    ni.translation_bytes = 64;
  }));
  std::vector<std::byte> far(65536);
  std::vector<std::byte> near(65536, std::byte{7});
  const auto key = nodes.nic(1).register_memory(far, true, true);
  nodes.run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint32_t i = 0; i < 3; ++i) {
          EXPECT_EQ(nic.copy_remote({RemoteCopy::What::write, 1, *key, 0, near.data(), 65536, 1}),
                    Post::done);
          box.await(0, i + 1);
        }
      },
      [](LocalNic&) {});
  EXPECT_EQ(far, near);
  // Expect: two lines of eight pages there, and the key's.
  EXPECT_EQ(nodes.machine().ni(0).translations().misses(), 0u);
  EXPECT_EQ(nodes.machine().ni(1).translations().misses(), 3u);
}

TEST(RdmaTables, WhatIsBehindAMissStaysBehindIt) {
  Nodes nodes(with([](hw::RdmaParams& ni) {
    ni.translations = 1;
    ni.translation_bytes = 8;
    ni.contexts = 1;
    ni.context_bytes = 256;
  }));
  std::vector<std::byte> memory(200000);
  const auto key = nodes.nic(1).register_memory(memory, true, true);
  auto data = numbered(100000);
  nodes.run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        for (std::uint32_t i = 0; i < 4; ++i) {
          EXPECT_EQ(nic.copy_remote(
                        {RemoteCopy::What::write, 1, *key, i * 1000, data.data(), data.size(), i}),
                    Post::done);
        }
        for (std::uint32_t i = 0; i < 10; ++i) box.send(1, i, 500);
        box.await(0, 4);
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        box.await(10, 0);
        for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(box.items[i].word, i);
      });
  EXPECT_EQ(std::memcmp(&memory[3000], data.data(), data.size()), 0);
  EXPECT_GT(nodes.machine().ni(1).translations().misses(), 100u);
}

// A second node that goes on changing a word of the second page, then one of the first.
void change_until(LocalNic& nic, std::vector<std::uint64_t>& memory, const bool& stop) {
  std::uint64_t i = 0;
  while (!stop) {
    memory[kSecondPage] = ++i;
    memory[0] = i;
    nic.sleep(nanoseconds(20));
  }
}

TEST(RdmaTables, AReadBehindOneThatMissesReadsLater) {
  Nodes nodes(with([](hw::RdmaParams& ni) {
    ni.translations = 3;
    ni.translation_bytes = 8;
  }));
  std::vector<std::uint64_t> memory(3 * kSecondPage);
  const auto key =
      nodes.nic(1).register_memory(std::as_writable_bytes(std::span(memory)), true, true);
  bool stop = false;
  nodes.run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        const auto read = [&](std::uint64_t page, std::uint64_t* to) {
          EXPECT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, *key, page * 4096, to, 8, 1}),
                    Post::done);
        };
        std::uint64_t version = 0;
        std::uint64_t page = 0;
        for (std::size_t i = 0; i < 20; ++i) {
          // The second page's translation is kept now, the first one's is not.
          read(2, &page);
          box.await(0, 4 * i + 1);
          read(1, &page);
          box.await(0, 4 * i + 2);
          const std::uint64_t misses = nodes.machine().ni(1).translations().misses();
          read(0, &version);
          read(1, &page);
          box.await(0, 4 * i + 4);
          EXPECT_EQ(nodes.machine().ni(1).translations().misses(), misses + 1);
          EXPECT_GT(version, 0u);
          EXPECT_GE(page, version);
        }
        stop = true;
      },
      [&](LocalNic& nic) { change_until(nic, memory, stop); });
}

TEST(RdmaLosses, AReadThatComesAgainDoesNotPassTheOneBehindIt) {
  for (const char* const faults : {"drop=0.1", "drop=0.05,dup=0.1,reorder=0.1"}) {
    Nodes nodes(that_repeats(), faults);
    std::vector<std::uint64_t> memory(2 * kSecondPage);
    const auto key =
        nodes.nic(1).register_memory(std::as_writable_bytes(std::span(memory)), true, true);
    bool stop = false;
    nodes.run(
        [&](LocalNic& nic) {
          Inbox box(nic);
          for (std::size_t i = 0; i < 200; ++i) {
            std::uint64_t version = 0;
            std::uint64_t page = 0;
            EXPECT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, *key, 0, &version, 8, 1}),
                      Post::done);
            EXPECT_EQ(nic.copy_remote({RemoteCopy::What::read, 1, *key, 4096, &page, 8, 2}),
                      Post::done);
            box.await(0, 2 * i + 2);
            EXPECT_GE(page, version) << faults;
          }
          stop = true;
        },
        [&](LocalNic& nic) { change_until(nic, memory, stop); });
    EXPECT_GT(nodes.repeated(), 0u);
  }
}

TEST(RdmaImmediate, AWriteTellsItsNumberWhenItIsThere) {
  Nodes nodes(hw::round_rdma_platform());
  std::vector<std::byte> memory(5000);
  const auto key = nodes.nic(1).register_memory(memory, true, true);
  const auto data = numbered(5000);
  nodes.run(
      [&](LocalNic& nic) {
        Inbox box(nic);
        auto mine = data;
        RemoteCopy write{RemoteCopy::What::write, 1, *key, 0, mine.data(), 5000, 1};
        write.tells = true;
        write.immediate = 0xfeedface;
        EXPECT_EQ(nic.copy_remote(write), Post::done);
        write.key.key ^= 1;
        EXPECT_EQ(nic.copy_remote(write), Post::done);
        box.await(0, 2);
      },
      [&](LocalNic& nic) {
        Inbox box(nic);
        while (box.told.empty()) {
          if (nic.reap(256, kAllLanes) == 0) nic.sleep(kNever);
        }
        EXPECT_EQ(memory, data);
        // Expect: one that was refused tells nothing.
        nic.sleep(microseconds(200));
        (void)nic.reap(256, kAllLanes);
        EXPECT_EQ(box.told, (std::vector<std::uint32_t>{0xfeedface}));
      });
}

}  // namespace
}  // namespace fairlead::fabric::model
