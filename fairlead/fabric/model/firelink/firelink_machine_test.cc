// Two nodes of a machine of round numbers: packets, puts, gets and links that die, with their
// times.
#include "fairlead/fabric/model/firelink/firelink_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "fairlead/hw/test_platform.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {
namespace {

using LocalNic = FirelinkMachine::LocalNic;

PacketHeader header(Peer source, std::uint32_t lane, std::uint32_t word, std::size_t size) {
  PacketHeader made{};
  made.client.kind = PacketKind::data;
  made.client.lane = static_cast<std::uint8_t>(lane);
  made.client.source = source;
  made.client.size = static_cast<std::uint32_t>(size);
  made.client.words[0] = word;
  return made;
}

std::vector<std::byte> numbered(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return data;
}

// Keeps what came, with the rank's time then.
struct Inbox {
  struct Item {
    std::uint32_t word;
    std::vector<std::byte> data;
    Ps at;
  };
  struct End {
    std::uint64_t token;
    Post result;
    Ps at;
  };
  explicit Inbox(LocalNic& of) : nic(of) {
    Sink sink;
    sink.context = this;
    sink.arrived = [](void* self, const Incoming& in) {
      auto* box = static_cast<Inbox*>(self);
      box->items.push_back(
          {in.header->client.words[0], {in.payload.begin(), in.payload.end()}, box->nic.now()});
      return Keep::no;
    };
    sink.copied = [](void* self, std::uint64_t token, Post result) {
      auto* box = static_cast<Inbox*>(self);
      box->ended.push_back({token, result, box->nic.now()});
    };
    sink.path_changed = [](void* self, Peer, bool lost) {
      ++(lost ? static_cast<Inbox*>(self)->paths_lost : static_cast<Inbox*>(self)->paths_back);
    };
    sink.peer_lost = [](void* self, Peer) { ++static_cast<Inbox*>(self)->peers_lost; };
    nic.attach(sink);
  }
  void await(std::size_t packets, std::size_t copies) {
    while (items.size() < packets || ended.size() < copies) {
      if (nic.reap(256, kAllLanes) == 0) nic.sleep(kNever);
    }
  }
  void settle() {
    while (!nic.settled()) {
      (void)nic.reap(256, kAllLanes);
      if (!nic.settled()) nic.sleep(kNever);
    }
  }
  void send(Peer dest, std::uint32_t word, std::size_t size) {
    const auto data = numbered(size);
    const Piece piece{data.data(), data.size()};
    while (nic.post(dest, header(nic.self(), 0, word, size), {&piece, 1}) != Post::done) {
      (void)nic.reap(256, kAllLanes);
      nic.sleep(kNever);
    }
  }
  LocalNic& nic;
  std::vector<Item> items;
  std::vector<End> ended;
  int paths_lost = 0;
  int paths_back = 0;
  int peers_lost = 0;
};

// So many ranks, on two nodes.
class Machines {
 public:
  using Body = std::function<void(LocalNic&)>;

  explicit Machines(hw::Platform platform, std::uint32_t each = 1)
      : machine_(std::move(platform), EvenNodes{2 * each, each}, 2) {
    pool_ = std::move(
        sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 2 * each}).value());
  }
  FirelinkMachine& machine() { return machine_; }
  // Returns whether all bodies came to their ends.
  bool run(std::vector<Body> bodies) {
    for (Rank rank = 0; rank < bodies.size(); ++rank) {
      const Peer node = machine_.ranks().node_of(rank);
      tasks_.push_back(std::make_unique<sim::Task>(machine_.engine(), *pool_, node, rank));
      machine_.run_on(rank, *tasks_.back());
      tasks_.back()->user = &machine_.nic(rank);
      const auto body = [](sim::Task& task, void* argument) {
        (*static_cast<Body*>(argument))(*static_cast<LocalNic*>(task.user));
      };
      if (!tasks_.back()->start(Ps{0}, body, &bodies[rank]).ok()) return false;
    }
    if (!machine_.engine().run_until_idle()) return false;
    return std::all_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task->done(); });
  }

 private:
  FirelinkMachine machine_;
  std::unique_ptr<sim::FiberPool> pool_;
  std::vector<std::unique_ptr<sim::Task>> tasks_;
};

TEST(FirelinkMachine, ALineTakesEveryStageOnce) {
  Machines two(hw::round_firelink_platform());
  Ps sent{};
  Ps seen{};
  Ps settled{};
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         box.send(1, 77, 16);
                         sent = nic.now();
                         box.settle();
                         settled = nic.now();
                       },
                       [&](LocalNic& nic) {
                         Inbox box(nic);
                         box.await(1, 0);
                         EXPECT_EQ(box.items[0].word, 77u);
                         EXPECT_EQ(box.items[0].data, numbered(16));
                         seen = box.items[0].at;
                       }}));
  // Expect: 10 ns of library and a stored line; then the memory interconnect, the path, the
  // interface, the link and its flight, the interface again, the path, memory; one look and the
  // packet's own time.
  EXPECT_EQ(sent, nanoseconds(10 + 40));
  const std::int64_t visible = 50 + 100 + 20 + 30 + 100 + 200 + 30 + 20 + 50;
  EXPECT_EQ(seen, nanoseconds(visible + 5 + 15));
  // Expect: a completion by the link, its flight, both interfaces and the interconnect
  EXPECT_GE(settled, nanoseconds(visible + 25 + 200 + 60 + 100));
  EXPECT_LE(settled, nanoseconds(visible + 25 + 200 + 60 + 100 + 5));
}

TEST(FirelinkMachine, PutsGoLineByLineAndEndWithTheirCompletions) {
  constexpr std::size_t kBytes = 64 * 200;
  Machines two(hw::round_firelink_platform());
  std::vector<std::byte> target(kBytes);
  Ps put{};
  Ps end{};
  RemoteKey key{two.machine().host(1).add_key(reinterpret_cast<std::uint64_t>(target.data()),
                                              target.size(), true, true),
                0};
  const auto data = numbered(kBytes);
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy;
                         copy.what = RemoteCopy::What::write;
                         copy.peer = 1;
                         copy.key = key;
                         copy.local = const_cast<std::byte*>(data.data());
                         copy.size = kBytes;
                         copy.token = 5;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         put = nic.now();
                         box.await(0, 1);
                         EXPECT_EQ(box.ended[0].result, Post::done);
                         EXPECT_EQ(box.ended[0].token, 5u);
                         end = box.ended[0].at;
                       },
                       [](LocalNic& nic) { Inbox box(nic); }}));
  EXPECT_EQ(target, data);
  // Expect: the link of 100 ns a line holds the processor up, which stores one in 40, once 64 are
  // not completed; the last of them leave behind it.
  EXPECT_GT(put, nanoseconds((200 - 64) * 100));
  EXPECT_LT(put, nanoseconds(200 * 100));
  EXPECT_GT(end, nanoseconds(200 * 100));
  EXPECT_LT(end, nanoseconds(200 * 100 + 2'000));
}

TEST(FirelinkMachine, GetsWaitForEachLine) {
  constexpr std::size_t kBytes = 64 * 4 + 10;
  Machines two(hw::round_firelink_platform());
  const auto data = numbered(kBytes + 3);
  std::vector<std::byte> local(kBytes);
  RemoteKey key{two.machine().host(1).add_key(reinterpret_cast<std::uint64_t>(data.data()),
                                              data.size(), true, false),
                0};
  Ps end{};
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy;
                         copy.peer = 1;
                         copy.key = key;
                         copy.offset = 3;
                         copy.local = local.data();
                         copy.size = kBytes;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         end = nic.now();
                         box.await(0, 1);
                         EXPECT_EQ(box.ended[0].result, Post::done);
                         // Expect: what may only be read is not written, and nothing beyond is read
                         copy.what = RemoteCopy::What::write;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         box.await(0, 2);
                         EXPECT_EQ(box.ended[1].result, Post::denied);
                         copy.what = RemoteCopy::What::read;
                         copy.offset = kBytes;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         box.await(0, 3);
                         EXPECT_EQ(box.ended[2].result, Post::denied);
                       },
                       [](LocalNic& nic) { Inbox box(nic); }}));
  EXPECT_EQ(local, std::vector<std::byte>(data.begin() + 3, data.end()));
  // Expect: the range touches five lines; each is asked for when the one before is here.
  const std::int64_t line = 100 + 30 + 25 + 200 + 30 + 100 + 60 + 100 + 200 + 60 + 100;
  EXPECT_EQ(end, nanoseconds(10 + 5 * line));
}

TEST(FirelinkMachine, RanksOfANodePassLinesByTheInterfaces) {
  Machines two(hw::round_firelink_platform(), 2);
  Ps seen{};
  ASSERT_TRUE(
      two.run({[&](LocalNic& nic) {
                 Inbox box(nic);
                 box.send(1, 7, 16);
               },
               [&](LocalNic& nic) {
                 Inbox box(nic);
                 EXPECT_EQ(nic.caps(0).flags & kRemoteMemory, 0u);
                 EXPECT_NE(nic.caps(2).flags & kRemoteMemory, 0u);
                 box.await(1, 0);
                 seen = box.items[0].at;
               },
               [](LocalNic& nic) { Inbox box(nic); }, [](LocalNic& nic) { Inbox box(nic); }}));
  // Expect: the library, a copy of 48 bytes at a byte a nanosecond, the other cache, a look.
  EXPECT_EQ(seen, nanoseconds(10 + 48 + 70 + 5 + 15));
}

TEST(FirelinkMachine, EachWayOfALinkCarriesWhatBothLeaveIt) {
  // One way a line is 100 ns; both ways each carries the other's completions too: 125.
  const auto took = [](bool both) {
    constexpr int kPackets = 400;
    Machines two(hw::round_firelink_platform(), 2);
    const auto sender = [](Peer to) {
      return [to](LocalNic& nic) {
        Inbox box(nic);
        for (int i = 0; i < kPackets; ++i) box.send(to, 0, 992);
        box.settle();
      };
    };
    const auto receiver = [](LocalNic& nic) {
      Inbox box(nic);
      box.await(kPackets, 0);
    };
    EXPECT_TRUE(two.run({sender(2), both ? Machines::Body(receiver) : [](LocalNic&) {}, receiver,
                         both ? Machines::Body(sender(1)) : [](LocalNic&) {}}));
    return to_us(two.machine().engine().now()) / kPackets / 16;
  };
  EXPECT_NEAR(took(false), 0.100, 0.004);
  EXPECT_NEAR(took(true), 0.125, 0.007);
}

TEST(FirelinkMachine, WhatADeadLinkSwallowedComesLateAndOnce) {
  constexpr std::uint32_t kPackets = 300;
  for (const std::uint32_t switches : {0u, 4u}) {
    Machines two(hw::round_firelink_platform(2, 2, switches));
    const auto plan = parse_fault_plan("down=0-link1@20us+2ms,down=1-ni1@50us+300us", 1);
    ASSERT_TRUE(plan.ok());
    ASSERT_TRUE(two.machine().set_faults(plan.value()).ok());
    int lost = 0;
    int back = 0;
    ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                           Inbox box(nic);
                           for (std::uint32_t i = 0; i < kPackets; ++i) box.send(1, i, 1024);
                           box.settle();
                           lost = box.paths_lost;
                         },
                         [&](LocalNic& nic) {
                           Inbox box(nic);
                           box.await(kPackets, 0);
                           for (std::uint32_t i = 0; i < kPackets; ++i) {
                             EXPECT_EQ(box.items[i].word, i);
                             EXPECT_EQ(box.items[i].data, numbered(1024));
                           }
                           // Expect: the driver goes back to what has come back.
                           while (box.paths_back == 0) {
                             (void)nic.reap(256, kAllLanes);
                             nic.sleep(kNever);
                           }
                           back = box.paths_back;
                         }}));
    EXPECT_NE(two.machine().losses(), "");
    EXPECT_GE(lost, 1);
    EXPECT_GE(back, 1);
    EXPECT_GT(two.machine().engine().now(), microseconds(500));
  }
}

TEST(FirelinkMachine, ThePutOfADeadLinkIsWholeInTheEnd) {
  constexpr std::size_t kBytes = 64 * 4000;
  Machines two(hw::round_firelink_platform(2, 2, 4));
  const auto plan = parse_fault_plan("down=1-link3@100us+50us,down=0-switch0@40us+1s", 1);
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(two.machine().set_faults(plan.value()).ok());
  std::vector<std::byte> target(kBytes);
  const RemoteKey key{two.machine().host(1).add_key(reinterpret_cast<std::uint64_t>(target.data()),
                                                    target.size(), true, true),
                      0};
  const auto data = numbered(kBytes);
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy;
                         copy.what = RemoteCopy::What::write;
                         copy.peer = 1;
                         copy.key = key;
                         copy.local = const_cast<std::byte*>(data.data());
                         copy.size = kBytes;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         box.await(0, 1);
                         EXPECT_EQ(box.ended[0].result, Post::done);
                         // Expect: a get finds its way as well
                         std::vector<std::byte> line(64);
                         copy.what = RemoteCopy::What::read;
                         copy.local = line.data();
                         copy.size = 64;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         EXPECT_EQ(line, std::vector<std::byte>(data.begin(), data.begin() + 64));
                       },
                       [](LocalNic& nic) { Inbox box(nic); }}));
  EXPECT_EQ(target, data);
  EXPECT_NE(two.machine().losses(), "");
}

// A raw put ends when its bytes can go another way, and its owner puts it again; also where the
// link is back before anybody has looked.
TEST(FirelinkMachine, ARawPutOfADeadLinkIsToldAsLost) {
  constexpr std::size_t kBytes = 64 * 4000;
  for (const char* faults : {"down=1-link3@100us+50us,down=0-switch0@40us+1s",
                             "down=0-link0@40us+20us,down=0-link1@40us+20us"}) {
    Machines two(hw::round_firelink_platform(2, 2, 4));
    const auto plan = parse_fault_plan(faults, 1);
    ASSERT_TRUE(plan.ok());
    ASSERT_TRUE(two.machine().set_faults(plan.value()).ok());
    std::vector<std::byte> target(kBytes);
    const RemoteKey key{two.machine().host(1).add_key(
                            reinterpret_cast<std::uint64_t>(target.data()), kBytes, true, true),
                        0};
    const auto data = numbered(kBytes);
    ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                           Inbox box(nic);
                           RemoteCopy copy;
                           copy.what = RemoteCopy::What::write;
                           copy.peer = 1;
                           copy.key = key;
                           copy.local = const_cast<std::byte*>(data.data());
                           copy.size = kBytes;
                           EXPECT_EQ(nic.copy_raw(copy), Post::done);
                           box.await(0, 1);
                           EXPECT_EQ(box.ended[0].result, Post::maybe_delivered);
                           EXPECT_GE(box.paths_lost, 1);
                           EXPECT_GE(nic.now(), microseconds(40 + 100));
                           while (box.ended.back().result != Post::done) {
                             EXPECT_EQ(nic.copy_raw(copy), Post::done);
                             box.await(0, box.ended.size() + 1);
                           }
                           box.settle();
                         },
                         [](LocalNic& nic) { Inbox box(nic); }}));
    EXPECT_EQ(target, data);
  }
}

TEST(FirelinkMachine, WithoutAnyLinkThePeerIsLost) {
  Machines two(hw::round_firelink_platform(1, 2));
  const auto plan = parse_fault_plan("down=0@20us+1s", 1);
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(two.machine().set_faults(plan.value()).ok());
  std::vector<std::byte> target(64 * 1000);
  const RemoteKey key{two.machine().host(1).add_key(reinterpret_cast<std::uint64_t>(target.data()),
                                                    target.size(), true, true),
                      0};
  const auto data = numbered(target.size());
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy;
                         copy.what = RemoteCopy::What::write;
                         copy.peer = 1;
                         copy.key = key;
                         copy.local = const_cast<std::byte*>(data.data());
                         copy.size = data.size();
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         box.await(0, 1);
                         EXPECT_EQ(box.ended[0].result, Post::maybe_delivered);
                         EXPECT_EQ(box.peers_lost, 1);
                         EXPECT_EQ(nic.copy_remote(copy), Post::peer_down);
                         const Piece none{nullptr, 0};
                         EXPECT_EQ(nic.post(1, header(0, 0, 0, 0), {&none, 1}), Post::peer_down);
                         box.settle();
                       },
                       [](LocalNic& nic) {
                         Inbox box(nic);
                         while (box.peers_lost == 0) {
                           (void)nic.reap(256, kAllLanes);
                           nic.sleep(kNever);
                         }
                       }}));
}

TEST(FirelinkMachine, FaultsThatAreNoneOfItsAreNamed) {
  Machines two(hw::round_firelink_platform(2, 2));
  const auto refusal = [&](const char* text) {
    const auto plan = parse_fault_plan(text, 1);
    if (!plan.ok()) return plan.error().text;
    const Result<void> answer = two.machine().set_faults(plan.value());
    return answer.ok() ? std::string() : answer.error().text;
  };
  EXPECT_NE(refusal("drop=0.1").find("down="), std::string::npos);
  EXPECT_NE(refusal("link=0:drop=0.1").find("down=0@"), std::string::npos);
  EXPECT_NE(refusal("down=0-link4@1ms+1ms").find("0-link0"), std::string::npos);
  EXPECT_NE(refusal("down=2@1ms+1ms").find("no such node"), std::string::npos);
  EXPECT_NE(refusal("down=0-1@1ms+1ms").find("several links"), std::string::npos);
  EXPECT_NE(refusal("down=0-switch0@1ms+1ms").find("no such link"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::fabric::model
