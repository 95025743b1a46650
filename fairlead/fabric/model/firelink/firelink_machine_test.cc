// Two nodes of a machine of round numbers: packets, puts, gets and links that die, with their
// times.
#include "fairlead/fabric/model/firelink/firelink_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "fairlead/fabric/model/firelink/firelink_fixture.h"
#include "fairlead/hw/test_platform.h"

namespace fairlead::fabric::model {
namespace {

using namespace firelink_fixture;

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

// A look at a line that was stored from afar costs who looks; the completion waits for nobody.
TEST(FirelinkMachine, ALookDelaysWhatIsSeenAndNotWhatIsCompleted) {
  const auto times = [](Ps look) {
    hw::Platform platform = hw::round_firelink_platform();
    hw::FireplaneParams plane = platform.bus.as<hw::FireplaneParams>();
    plane.look = look;
    platform.bus = hw::AnyPart(std::make_unique<hw::FireplaneParams>(plane));
    Machines two(std::move(platform));
    Ps seen{};
    Ps settled{};
    EXPECT_TRUE(two.run({[&](LocalNic& nic) {
                           Inbox box(nic);
                           box.send(1, 77, 16);
                           box.settle();
                           settled = nic.now();
                         },
                         [&](LocalNic& nic) {
                           Inbox box(nic);
                           box.await(1, 0);
                           seen = box.items[0].at;
                         }}));
    return std::pair(seen, settled);
  };
  const auto [seen, settled] = times(Ps{0});
  const auto [seen_later, settled_then] = times(nanoseconds(90));
  EXPECT_EQ(seen_later, seen + nanoseconds(90));
  EXPECT_EQ(settled_then, settled);
}

// Ranks of a host that send at the same time, each to its partner, begin at different interfaces.
TEST(FirelinkMachine, ProcessorsBeginAtDifferentInterfaces) {
  const auto apart = [](std::uint32_t nis) {
    Machines two(hw::round_firelink_platform(nis), 2);
    std::vector<Ps> seen(2);
    const auto sender = [](Peer to) {
      return [to](LocalNic& nic) {
        Inbox box(nic);
        box.send(to, 0, 992);
      };
    };
    const auto receiver = [&seen](std::size_t which) {
      return [&seen, which](LocalNic& nic) {
        Inbox box(nic);
        box.await(1, 0);
        seen[which] = box.items[0].at;
      };
    };
    EXPECT_TRUE(two.run({sender(2), sender(3), receiver(0), receiver(1)}));
    return seen[1] - seen[0];
  };
  // Expect: 16 lines wait for 16 others where there is one interface only, else for the memory that
  // both receivers share
  EXPECT_GE(apart(1), nanoseconds(1500));
  EXPECT_LE(apart(2), nanoseconds(600));
}

TEST(FirelinkMachine, PutsGoLineByLineAndEndWithTheirCompletions) {
  constexpr std::size_t kBytes = 64 * 200;
  Machines two(hw::round_firelink_platform());
  std::vector<std::byte> target(kBytes);
  Ps put{};
  Ps end{};
  const RemoteKey key = expose(two, target);
  const auto data = numbered(kBytes);
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy = write_of(data, key);
                         copy.token = 5;
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         put = nic.now();
                         box.await(0, 1);
                         EXPECT_EQ(box.ended[0].result, Post::done);
                         EXPECT_EQ(box.ended[0].token, 5u);
                         end = box.ended[0].at;
                       },
                       meet}));
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
  const RemoteKey key = expose(two, data.data(), data.size(), false);
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
                       meet}));
  EXPECT_EQ(local, std::vector<std::byte>(data.begin() + 3, data.end()));
  // Expect: the range touches five lines; each is asked for when the one before is here.
  const std::int64_t line = 100 + 30 + 25 + 200 + 30 + 100 + 60 + 100 + 200 + 60 + 100;
  EXPECT_EQ(end, nanoseconds(10 + 5 * line));
}

TEST(FirelinkMachine, RanksOfANodePassLinesByTheInterfaces) {
  Machines two(hw::round_firelink_platform(), 2);
  Ps seen{};
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
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
                       meet, meet}));
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
    ASSERT_EQ(refusal(two, "down=0-link1@20us+2ms,down=1-ni1@50us+300us"), "");
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
  ASSERT_EQ(refusal(two, "down=1-link3@100us+50us,down=0-switch0@40us+1s"), "");
  std::vector<std::byte> target(kBytes);
  const RemoteKey key = expose(two, target);
  const auto data = numbered(kBytes);
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy = write_of(data, key);
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
                       meet}));
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
    ASSERT_EQ(refusal(two, faults), "");
    std::vector<std::byte> target(kBytes);
    const RemoteKey key = expose(two, target);
    const auto data = numbered(kBytes);
    ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                           Inbox box(nic);
                           RemoteCopy copy = write_of(data, key);
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
                         meet}));
    EXPECT_EQ(target, data);
  }
}

TEST(FirelinkMachine, WithoutAnyLinkThePeerIsLost) {
  Machines two(hw::round_firelink_platform(1, 2));
  ASSERT_EQ(refusal(two, "down=0@20us+1s"), "");
  std::vector<std::byte> target(64 * 1000);
  const RemoteKey key = expose(two, target);
  const auto data = numbered(target.size());
  ASSERT_TRUE(two.run({[&](LocalNic& nic) {
                         Inbox box(nic);
                         RemoteCopy copy = write_of(data, key);
                         EXPECT_EQ(nic.copy_remote(copy), Post::done);
                         box.await(0, 1);
                         EXPECT_EQ(box.ended[0].result, Post::maybe_delivered);
                         EXPECT_EQ(box.peers_lost, 1);
                         // Expect: which link was the last, and when that was known
                         EXPECT_EQ(std::string(nic.why_lost(1)),
                                   "no link is left from node 0 to node 1: 0-link1 was found dead "
                                   "at 520.0 us");
                         EXPECT_EQ(nic.why_lost(0), nullptr);
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
  EXPECT_NE(refusal(two, "drop=0.1").find("down="), std::string::npos);
  EXPECT_NE(refusal(two, "link=0:drop=0.1").find("down=0@"), std::string::npos);
  EXPECT_NE(refusal(two, "down=0-link4@1ms+1ms").find("0-link0"), std::string::npos);
  EXPECT_NE(refusal(two, "down=2@1ms+1ms").find("no such node"), std::string::npos);
  EXPECT_NE(refusal(two, "down=0-1@1ms+1ms").find("several links"), std::string::npos);
  EXPECT_NE(refusal(two, "down=0-switch0@1ms+1ms").find("no such link"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::fabric::model
