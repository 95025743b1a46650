// The direct composition on each fabric that carries it, all ranks driven by this thread.
#include "fairlead/lci/direct/direct_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/direct/direct_port_fixture.h"
#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {
namespace {

TEST_P(DirectPortTest, SmallPacketsArriveInOrderWithEveryField) {
  start(3);
  Inbox box;
  port(2).bind(7, box.upcall(), {});
  constexpr int kCount = 1000;
  const int sizes = static_cast<int>(port(1).caps(2).inline_bytes_max) + 1;
  int sent = 0;
  until([&] {
    while (sent < kCount) {
      const auto data =
          pattern(static_cast<std::size_t>(sent % sizes), static_cast<unsigned>(sent));
      const Words words = {static_cast<std::uint32_t>(sent), 1, 2, 3};
      if (port(1).send_small({2}, 7, Lane::request, words, data, kNoBlock) != Post::done) break;
      ++sent;
    }
    return box.items.size() == kCount;
  });
  // Expect: each once, in order, payload intact.
  ASSERT_EQ(box.items.size(), std::size_t{kCount});
  for (int i = 0; i < kCount; ++i) {
    const auto& item = box.items[static_cast<std::size_t>(i)];
    ASSERT_EQ(item.word0, static_cast<std::uint32_t>(i));
    ASSERT_EQ(item.source, 1u);
    ASSERT_EQ(item.data, pattern(static_cast<std::size_t>(i % sizes), static_cast<unsigned>(i)));
  }
  EXPECT_EQ(port(1).counters().packets_sent, std::uint64_t{kCount});
  EXPECT_EQ(port(2).counters().packets_received, std::uint64_t{kCount});
}

// Expect: what the short way does not take comes by run(), in the order they were sent; and all do
// where a port has no short way.
TEST_P(DirectPortTest, SmallPacketsAreOfferedToTheShortWayFirst) {
  start(2);
  struct Both {
    Inbox box;
    int taken = 0;
    static bool run_small(void* self, Rank source, WordVector words, const std::byte* data,
                          std::size_t size) {
      auto& both = *static_cast<Both*>(self);
      if (words[0] % 3 != 0 || source != 0 || words[3] != 7) return false;
      both.box.items.push_back({source, Lane::request, false, words[0], {data, data + size}});
      ++both.taken;
      return true;
    }
    static Keep run(void* self, Packet* packet, const Arrival& arrival) {
      auto& both = *static_cast<Both*>(self);
      return both.box.upcall().run(&both.box, packet, arrival);
    }
  } both;
  constexpr std::uint32_t kCount = 200;
  std::uint32_t went_straight = 0;
  const FastPath straight = port(0).fast_path(5, Lane::request);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (i == kCount / 2) port(1).bind(5, {&Both::run, &both, &Both::run_small}, {});
    const auto data = pattern(i % 33, i);
    const WordVector words = {i, 0, 0, 7};
    if (straight.post(1, words, data.data(), data.size())) {
      ++went_straight;
      continue;
    }
    ASSERT_TRUE(until([&] {
      return port(0).send_small({1}, 5, Lane::request, {i, 0, 0, 7}, data, kNoBlock) == Post::done;
    }));
  }
  ASSERT_TRUE(until([&] { return both.box.items.size() == kCount; }));
  for (std::uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(both.box.items[i].word0, i);
    EXPECT_EQ(both.box.items[i].data, pattern(i % 33, i));
  }
  if (GetParam().on == On::shm && GetParam().faults == nullptr) {
    EXPECT_GT(both.taken, 0);
    EXPECT_EQ(went_straight > 0, GetParam().membarrier);  // none where the sender fences itself
  }
  EXPECT_EQ(port(0).counters().packets_sent, kCount);
  EXPECT_EQ(port(1).counters().packets_received, kCount);
}

TEST_P(DirectPortTest, ALookFindsWhatAPollWould) {
  start(2);
  Inbox box;
  port(1).bind(5, box.upcall(), {});
  const FastPath straight = port(1).fast_path(6, Lane::request);
  if (!straight.exists()) GTEST_SKIP() << "packets go through no slots";
  const auto data = pattern(8, 1);
  const auto send = [&](Chan chan) {
    ASSERT_TRUE(until([&] {
      return port(0).send_small({1}, chan, Lane::request, Words{}, data, kNoBlock) == Post::done;
    }));
  };
  send(5);
  ASSERT_TRUE(until([&] { return box.items.size() == 1; }));
  ASSERT_TRUE(until([&] { return straight.nothing_here(); }));
  // Expect: a packet of any channel is seen until a poll takes it.
  send(5);
  EXPECT_FALSE(straight.nothing_here());
  EXPECT_FALSE(straight.nothing_here());
  EXPECT_EQ(port(1).poll(), 1);
  EXPECT_EQ(box.items.size(), 2u);
  EXPECT_TRUE(straight.nothing_here());
  // Expect: so is one that waited for its channel, and what would have to wait behind it.
  send(7);
  EXPECT_FALSE(straight.nothing_here());
  port(1).poll();
  EXPECT_TRUE(straight.nothing_here());
  port(1).bind(7, box.upcall(), {});
  EXPECT_FALSE(straight.nothing_here());
  EXPECT_EQ(port(1).poll(), 1);
  EXPECT_TRUE(straight.nothing_here());
  // Expect: so is a task.
  port(1).defer({[](void*) {}, nullptr});
  EXPECT_FALSE(straight.nothing_here());
  EXPECT_EQ(port(1).poll(), 1);
  EXPECT_TRUE(straight.nothing_here());
  // Expect: nothing may be taken while upcalls are held off.
  port(1).hold();
  EXPECT_FALSE(straight.nothing_here());
  port(1).allow();
  EXPECT_TRUE(straight.nothing_here());
}

TEST_P(DirectPortTest, AnInvalidDestinationOrSizeIsRefused) {
  start(2);
  const Words words = {};
  const auto big = pattern(port(0).caps(1).inline_bytes_max + 1, 1);
  // Expect: an answer, not a crash, and nothing sent.
  EXPECT_EQ(port(0).send_small({2}, 7, Lane::request, words, {}, kNoBlock), Post::invalid);
  EXPECT_EQ(port(0).send_small({1}, 7, Lane::request, words, big, kNoBlock), Post::invalid);
  EXPECT_EQ(port(0).counters().packets_sent, 0u);
}

TEST_P(DirectPortTest, PartsOfMessagesArePacketsAndNoMessages) {
  start(4);
  std::vector<Inbox> boxes(4);
  for (Rank r = 0; r < 4; ++r) port(r).bind(7, boxes[r].upcall(), {});
  const auto small = pattern(8, 1);
  const auto large = pattern(2'000, 2);
  const auto send = [&](Dest to, std::uint32_t flags) {
    ASSERT_EQ(port(0).send_small(to, 7, Lane::request, Words{}, small, kNoBlock | flags),
              Post::done);
    Packet* const packet = port(0).alloc(to, Lane::request, large.size(), kNoBlock);
    ASSERT_NE(packet, nullptr);
    const Piece piece{large.data(), large.size()};
    ASSERT_EQ(port(0).send(packet, 7, Words{}, 0, {&piece, 1}, nullptr, kNoBlock | flags),
              Post::done);
  };
  send({1}, kNoFlags);
  send({1}, kPart);
  ASSERT_TRUE(until([&] { return boxes[1].items.size() == 4; }));
  // Expect: four packets, of which two begin a message.
  EXPECT_EQ(port(0).counters().packets_sent, 4u);
  EXPECT_EQ(messages_sent(port(0).counters()), 2u);
  send({0, true}, kNoFlags);
  send({0, true}, kPart);
  for (Rank r = 1; r < 4; ++r) {
    ASSERT_TRUE(until([&] { return boxes[r].items.size() == (r == 1 ? 8u : 4u); }));
  }
  // Expect: a multicast is one message, however many packets carry it, and whoever passes it on.
  EXPECT_EQ(messages_sent(port(0).counters()), 4u);
  for (Rank r = 1; r < 4; ++r) EXPECT_EQ(messages_sent(port(r).counters()), 0u);
}

TEST_P(DirectPortTest, PacketsOfEverySizeArriveInOrder) {
  start(2);
  Inbox box;
  port(1).bind(3, box.upcall(), {});
  const std::uint32_t mtu = port(0).caps(1).mtu_bytes;
  EXPECT_GE(mtu, 8192u);
  const std::vector<std::size_t> sizes = {0, 1, 31, 32, 33, 64, 96, 97, 1000, 4096, mtu - 1, mtu};
  for (int round = 0; round < 30; ++round)
    for (std::size_t size : sizes) {
      const auto data = pattern(size, size + static_cast<unsigned>(round));
      Packet* packet = nullptr;
      until(
          [&] { return (packet = port(0).alloc({1}, Lane::request, size, kNoBlock)) != nullptr; });
      ASSERT_NE(packet, nullptr);
      // The first half in the body, the rest gathered.
      const std::size_t half = size / 2;
      if (half > 0) std::memcpy(port(0).body(packet).data(), data.data(), half);
      const Piece rest{data.data() + half, size - half};
      Counter done;
      const Words words = {static_cast<std::uint32_t>(size), 0, 0, 0};
      Post answer;
      until([&] {
        answer = port(0).send(packet, 3, words, half, {&rest, 1}, &done, kNoBlock);
        return answer == Post::done;
      });
      ASSERT_EQ(answer, Post::done);
      EXPECT_EQ(done.ok.load(), 1u);
    }
  until([&] { return box.items.size() == sizes.size() * 30; });
  // Expect: all of them, in order, intact.
  ASSERT_EQ(box.items.size(), sizes.size() * 30);
  for (std::size_t i = 0; i < box.items.size(); ++i) {
    const std::size_t size = sizes[i % sizes.size()];
    ASSERT_EQ(box.items[i].data, pattern(size, size + i / sizes.size())) << i;
  }
}

TEST_P(DirectPortTest, KeptPacketsStayValidAndNeverStopTheNetwork) {
  start(2);
  Inbox box;
  box.keep = true;
  port(1).bind(3, box.upcall(), {});
  constexpr std::size_t kCount = 300;  // several times the sender's pool
  constexpr std::size_t kSizes[] = {20, 5000, 80, 5000};
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto data = pattern(kSizes[i % 4], i);
    Packet* packet = nullptr;
    ASSERT_TRUE(until(
        [&] { return (packet = port(0).alloc({1}, Lane::request, 5000, kNoBlock)) != nullptr; }));
    const Piece piece{data.data(), data.size()};
    const Words words = {};
    ASSERT_TRUE(until([&] {
      return port(0).send(packet, 3, words, 0, {&piece, 1}, nullptr, kNoBlock) == Post::done;
    }));
  }
  ASSERT_TRUE(until([&] { return box.items.size() == kCount; }));
  // Expect: every kept packet still holds its bytes; release in another order than arrival.
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto data = pattern(kSizes[i % 4], i);
    ASSERT_TRUE(
        std::equal(data.begin(), data.end(), box.kept_data[i].begin(), box.kept_data[i].end()))
        << i;
  }
  for (std::size_t i = 0; i < kCount; ++i) port(1).release(box.kept[(i * 7) % kCount]);
  if (GetParam().on == On::shm) {
    EXPECT_GT(port(1).counters().copied_out, 0u);
  }
  // Expect: all buffers came back: as many large packets pass again.
  box.keep = false;
  box.items.clear();
  const auto data = pattern(6000, 9);
  for (std::size_t i = 0; i < kCount; ++i) {
    Packet* packet = nullptr;
    ASSERT_TRUE(until(
        [&] { return (packet = port(0).alloc({1}, Lane::request, 6000, kNoBlock)) != nullptr; }));
    const Piece piece{data.data(), data.size()};
    ASSERT_TRUE(until([&] {
      return port(0).send(packet, 3, Words{}, 0, {&piece, 1}, nullptr, kNoBlock) == Post::done;
    }));
  }
  EXPECT_TRUE(until([&] { return box.items.size() == kCount; }));
}

struct Echo {
  Port* port;
  static Keep run(void* self, Packet*, const Arrival& a) {
    auto& echo = *static_cast<Echo*>(self);
    // Three replies for one request: more than any credit.
    for (std::uint32_t i = 0; i < 3; ++i) {
      const Words words = {a.words[0] * 3 + i, 0, 0, 0};
      const Post answer = echo.port->send_small({a.source}, 9, Lane::reply, words, {}, kNoFlags);
      EXPECT_EQ(answer, Post::done);
    }
    return Keep::no;
  }
};

TEST_P(DirectPortTest, RepliesFromUpcallsAreNeverRefusedNorReordered) {
  start(2);
  Echo echo0{&port(0)};
  Echo echo1{&port(1)};
  Inbox box0;
  Inbox box1;
  port(0).bind(8, {&Echo::run, &echo0}, {});
  port(1).bind(8, {&Echo::run, &echo1}, {});
  port(0).bind(9, box0.upcall(), {});
  port(1).bind(9, box1.upcall(), {});
  constexpr std::uint32_t kCount = 2000;
  std::uint32_t sent[2] = {0, 0};
  const bool all = until([&] {
    for (Rank r = 0; r < 2; ++r)
      for (; sent[r] < kCount; ++sent[r]) {
        const Words words = {sent[r], 0, 0, 0};
        if (port(r).send_small({1 - r}, 8, Lane::request, words, {}, kNoBlock) != Post::done) break;
      }
    return box0.items.size() == 3 * kCount && box1.items.size() == 3 * kCount;
  });
  // Expect: both directions flood each other and still every reply comes, in order.
  ASSERT_TRUE(all);
  for (std::uint32_t i = 0; i < 3 * kCount; ++i) {
    ASSERT_EQ(box0.items[i].word0, i);
    ASSERT_EQ(box1.items[i].word0, i);
    ASSERT_EQ(box1.items[i].lane, Lane::reply);
  }
}

TEST_P(DirectPortTest, PacketsWaitForTheirChannelToBeBound) {
  start(2);
  const auto large = pattern(3000, 1);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Words words = {i, 0, 0, 0};
    if (i % 2 == 0) {
      ASSERT_EQ(port(0).send_small({1}, 20, Lane::request, words, {}, kNoBlock), Post::done);
    } else {
      Packet* packet = port(0).alloc({1}, Lane::request, large.size(), kNoBlock);
      const Piece piece{large.data(), large.size()};
      ASSERT_EQ(port(0).send(packet, 20, words, 0, {&piece, 1}, nullptr, kNoBlock), Post::done);
    }
  }
  poll_all();
  Inbox box;
  port(1).bind(20, box.upcall(), {});
  until([&] { return box.items.size() == 10; });
  // Expect: what came before the bind, in order, intact.
  ASSERT_EQ(box.items.size(), 10u);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(box.items[i].word0, i);
    if (i % 2 == 1) {
      EXPECT_EQ(box.items[i].data, large);
    }
  }
}

TEST_P(DirectPortTest, SelfSendsAndGroupsAndHold) {
  start(5);
  std::vector<Inbox> boxes(5);
  for (Rank r = 0; r < 5; ++r) port(r).bind(1, boxes[r].upcall(), {});
  ASSERT_EQ(port(3).send_small({3}, 1, Lane::request, Words{42, 0, 0, 0}, {}, kNoBlock),
            Post::done);
  port(3).hold();
  poll_all();
  // Expect: nothing runs while held; the self-send arrives afterwards.
  EXPECT_TRUE(boxes[3].items.empty());
  port(3).allow();
  EXPECT_TRUE(until([&] { return boxes[3].items.size() == 1; }));
  boxes[3].items.clear();

  const std::vector<Rank> members = {4, 0, 2};
  for (Rank r : {0u, 2u}) ASSERT_EQ(port(r).group(5, members), Post::done);
  EXPECT_EQ(port(1).group(5, members), Post::invalid);
  const auto data = pattern(100, 3);
  // Many more than the window; member 4 defines the group late.
  constexpr std::uint32_t kCount = 200;
  std::uint32_t sent = 0;
  const auto step = [&] {
    for (; sent < kCount; ++sent) {
      Packet* packet = port(0).alloc({5, true}, Lane::request, 100, kNoBlock);
      if (packet == nullptr) break;
      std::memcpy(port(0).body(packet).data(), data.data(), data.size());
      if (port(0).send(packet, 1, Words{sent, 0, 0, 0}, data.size(), {}, nullptr, kNoBlock) !=
          Post::done) {
        port(0).release(packet);
        break;
      }
    }
    return boxes[2].items.size() == kCount && boxes[4].items.size() == kCount;
  };
  for (int i = 0; i < 100; ++i) {
    step();
    poll_all();
  }
  EXPECT_TRUE(boxes[4].items.empty());
  ASSERT_EQ(port(4).group(5, members), Post::done);
  // Expect: each other member gets each once, in order, from the origin; nobody else does.
  ASSERT_TRUE(until(step));
  for (Rank r : {2u, 4u})
    for (std::uint32_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(boxes[r].items[i].word0, i);
      ASSERT_EQ(boxes[r].items[i].source, 0u);
      ASSERT_TRUE(boxes[r].items[i].via_group);
      ASSERT_EQ(boxes[r].items[i].data, data);
    }
  EXPECT_TRUE(boxes[0].items.empty());
  EXPECT_TRUE(boxes[1].items.empty());
}

TEST_P(DirectPortTest, GroupPacketsOfEverySizeArrive) {
  start(4);
  std::vector<Inbox> boxes(4);
  for (Rank r = 0; r < 4; ++r) port(r).bind(1, boxes[r].upcall(), {});
  const std::uint32_t mtu = port(0).caps(1).mtu_bytes;
  const std::vector<std::size_t> sizes = {0, 1, 33, mtu - kPrefixBytes, mtu - 1, mtu};
  for (std::size_t size : sizes) {
    const auto data = pattern(size, size);
    const Piece piece{data.data(), size};
    Packet* packet = port(0).alloc({0, true}, Lane::request, size, kNoBlock);
    ASSERT_EQ(port(0).send(packet, 1, Words{}, 0, {&piece, 1}, nullptr, kNoBlock), Post::done);
  }
  // Expect: each, whole, at every other rank.
  for (Rank r = 1; r < 4; ++r) {
    ASSERT_TRUE(until([&] { return boxes[r].items.size() == sizes.size(); }));
    for (std::size_t i = 0; i < sizes.size(); ++i)
      EXPECT_EQ(boxes[r].items[i].data, pattern(sizes[i], sizes[i]));
  }
}

TEST_P(DirectPortTest, PutGetAtomicFenceOnAllocatedAndExposedMemory) {
  start(2);
  auto* allocated = static_cast<std::byte*>(port(1).allocate(1, 100000, Place::host));
  ASSERT_NE(allocated, nullptr);
  std::vector<std::uint64_t> own(20000);
  ASSERT_EQ(port(1).expose(2, own.data(), own.size() * 8, kRead | kWrite | kAtomic, nullptr, {}),
            Post::done);
  Counter bumped;
  port(1).expose_counter(5, &bumped);
  for (SegId segment : {1u, 2u}) {
    auto* target = segment == 1 ? allocated : reinterpret_cast<std::byte*>(own.data());
    const auto data = pattern(50000, segment);
    const PutPiece pieces[] = {{8, data.data(), 30000}, {40000, data.data() + 30000, 20000}};
    Counter done;
    Counter fenced;
    const Post put = port(0).put({1}, segment, pieces, &done, 5, kNoFlags);
    ASSERT_TRUE(put == Post::done || put == Post::pending);
    const Post fence = port(0).fence({1}, &fenced);
    ASSERT_TRUE(fence == Post::done || fence == Post::pending);
    // Expect: the sources are free, the data is there once the fence counted, the counter bumped.
    ASSERT_TRUE(until([&] { return done.ok == 1 && fenced.ok == 1 && bumped.ok == segment; }));
    EXPECT_EQ(std::memcmp(target + 8, data.data(), 30000), 0);
    EXPECT_EQ(std::memcmp(target + 40000, data.data() + 30000, 20000), 0);

    std::vector<std::byte> got(30000);
    Counter read;
    const Post get = port(0).get({1, segment, 8}, got.data(), got.size(), &read, kNoFlags);
    ASSERT_TRUE(get == Post::done || get == Post::pending);
    ASSERT_TRUE(until([&] { return read.ok == 1; }));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), data.begin()));

    std::memset(target, 0, 8);
    std::uint64_t old = 99;
    Counter atomics;
    (void)port(0).atomic({1, segment, 0}, Atomic::add, 7, 0, &old, &atomics);
    ASSERT_TRUE(until([&] { return atomics.ok == 1; }));
    EXPECT_EQ(old, 0u);
    (void)port(0).atomic({1, segment, 0}, Atomic::compare_swap, 7, 11, &old, &atomics);
    ASSERT_TRUE(until([&] { return atomics.ok == 2; }));
    EXPECT_EQ(old, 7u);
    std::uint64_t now;
    std::memcpy(&now, target, 8);
    EXPECT_EQ(now, 11u);
  }
  EXPECT_EQ(port(0).map(1, 2), nullptr);
  if ((port(0).caps(1).flags & kMappable) != 0) {
    auto* mapped = static_cast<std::byte*>(port(0).map(1, 1));
    ASSERT_NE(mapped, nullptr);
    mapped[99999] = std::byte{77};
    EXPECT_EQ(allocated[99999], std::byte{77});
  }
}

TEST_P(DirectPortTest, BoundsPermissionsAndListsAreChecked) {
  start(3);
  std::vector<std::uint64_t> own(8, 5);
  const Rank only[] = {2};
  ASSERT_EQ(port(1).expose(3, own.data(), 64, kRead, nullptr, only), Post::done);
  EXPECT_EQ(port(1).expose(3, own.data(), 64, kRead, nullptr, {}), Post::invalid);
  std::uint64_t value = 1;
  // `known`: what a caller is told at once that knows the segment.
  const auto get_fails = [&](Rank who, SegId segment, std::uint64_t offset, std::size_t size,
                             std::initializer_list<Post> known = {Post::invalid, Post::denied}) {
    Counter c;
    const Post answer = port(who).get({1, segment, offset}, &value, size, &c, kNoFlags);
    if (answer != Post::pending) return std::count(known.begin(), known.end(), answer) > 0;
    until([&] { return c.ok + c.failed == 1; });
    return c.failed == 1 && c.ok == 0;
  };
  // Expect: past the end, wrapping round, unknown, not listed: refused; in bounds: served.
  EXPECT_TRUE(get_fails(2, 3, 60, 8));
  EXPECT_TRUE(get_fails(2, 3, ~std::uint64_t{0} - 3, 8));
  EXPECT_TRUE(get_fails(2, 4, 0, 8));
  EXPECT_TRUE(get_fails(0, 3, 0, 8));
  EXPECT_EQ(value, 1u);
  EXPECT_FALSE(get_fails(2, 3, 56, 8));
  EXPECT_EQ(value, 5u);
  // Expect: a put without permission changes nothing and shows at the fence or at once.
  const PutPiece piece{0, &value, 8};
  Counter done;
  Counter fenced;
  value = 9;
  if (port(2).put({1}, 3, {&piece, 1}, &done, kNoCounter, kNoFlags) == Post::pending) {
    (void)port(2).fence({1}, &fenced);
    until([&] { return fenced.ok + fenced.failed == 1; });
    EXPECT_EQ(fenced.failed, 1u);
  }
  EXPECT_EQ(own[0], 5u);
  ASSERT_EQ(port(1).withdraw(3), Post::done);
  // Expect: told apart from a segment that never was.
  EXPECT_TRUE(get_fails(2, 3, 56, 8, {Post::withdrawn}));
  EXPECT_EQ(port(1).withdraw(3), Post::invalid);
}

TEST_P(DirectPortTest, ALostPeerEndsWaitsAndOperations) {
  start(3);
  Inbox box;
  port(0).bind(1, box.upcall(), {});
  ASSERT_EQ(port(2).send_small({0}, 1, Lane::request, Words{1, 0, 0, 0}, {}, kNoBlock), Post::done);
  mark_dead(2);
  Until until_packet;
  std::atomic<std::uint64_t> never{0};
  until_packet.word = &never;
  until_packet.value = 1;
  // Expect: the wait ends with the reason; on shm what the peer sent before it died came first.
  EXPECT_EQ(port(0).wait(until_packet), Post::peer_down);
  if (GetParam().on == On::shm) {
    EXPECT_EQ(box.items.size(), 1u);
  }
  EXPECT_EQ(port(0).send_small({2}, 1, Lane::request, Words{}, {}, kNoFlags), Post::peer_down);
  // Expect: told once; the rest of the job goes on.
  until_packet.deadline = port(0).now() + milliseconds(1);
  EXPECT_EQ(port(0).wait(until_packet), Post::again_credit);
  EXPECT_EQ(port(1).send_small({0}, 1, Lane::request, Words{}, {}, kNoFlags), Post::done);
}

TEST_P(DirectPortTest, WaitEndsByCounterWordPacketTaskAndDeadline) {
  start(2);
  Inbox box;
  port(0).bind(1, box.upcall(), {});
  // A fabric that connects its endpoints needs both polled until they are.
  (void)port(1).send_small({0}, 1, Lane::request, Words{}, {}, kNoBlock);
  ASSERT_TRUE(until([&] { return !box.items.empty(); }));
  box.items.clear();
  Counter counter;
  Until until_counter;
  until_counter.counter = &counter;
  until_counter.at = 1;
  const Task bump{[](void* c) { ++static_cast<Counter*>(c)->ok; }, &counter};
  port(0).defer(bump);
  EXPECT_EQ(port(0).wait(until_counter), Post::done);
  const Ps before = port(0).now();
  until_counter.at = 2;
  port(0).after(milliseconds(2), bump);
  EXPECT_EQ(port(0).wait(until_counter), Post::done);
  // Expect: the timer was not early.
  EXPECT_GE((port(0).now() - before).count, milliseconds(2).count);
  (void)port(1).send_small({0}, 1, Lane::request, Words{}, {}, kNoBlock);
  Until any;
  any.any_packet = true;
  EXPECT_EQ(port(0).wait(any), Post::done);
  EXPECT_EQ(box.items.size(), 1u);
  // Expect: a failure is told apart.
  until_counter.at = 3;
  const Task fail{[](void* c) { ++static_cast<Counter*>(c)->failed; }, &counter};
  port(0).defer(fail);
  EXPECT_EQ(port(0).wait(until_counter), Post::maybe_delivered);
}

// Sends 1,000 numbered packets over a network with the faults of `plan`; returns how many came.
std::size_t pass_through(const char* plan, std::uint32_t first = 0) {
  auto network = std::move(fabric::LoopNetwork::create({2, 1 << 20}).value());
  const auto faults = fabric::parse_fault_plan(plan, 11).value();
  std::vector<std::unique_ptr<fabric::Nic>> nics;
  std::vector<std::unique_ptr<Port>> ports;
  for (Rank r = 0; r < 2; ++r) {
    nics.push_back(network->endpoint(r));
    nics.push_back(fabric::make_faulty(*nics.back(), faults, {}));
    DirectOptions options;
    options.first = first;
    ports.push_back(make_direct_port(*nics.back(), options));
  }
  Inbox box;
  ports[1]->bind(1, box.upcall(), {});
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(ports[0]->send_small({1}, 1, Lane::request, Words{i, 0, 0, 0}, {}, kNoBlock),
              Post::done);
    ports[1]->poll();
  }
  for (std::uint32_t i = 0; i < box.items.size(); ++i) EXPECT_EQ(box.items[i].word0, i);
  return box.items.size();
}

TEST(DirectOnFaultyDeathTest, NamesLossRepetitionAndDamage) {
  EXPECT_EQ(pass_through(""), 1000u);
  EXPECT_EQ(pass_through("", ~std::uint32_t{0} - 500), 1000u);
  // Expect: the composition cannot mend it, so it names what happened and stops.
  EXPECT_DEATH(pass_through("drop=0.01"), "rank 1: .*lost or reordered a packet from rank 0");
  EXPECT_DEATH(pass_through("drop=0.01", ~std::uint32_t{0} - 20),
               "lost or reordered a packet from rank 0");
  EXPECT_DEATH(pass_through("dup=0.01"), "repeated a packet from rank 0");
  EXPECT_DEATH(pass_through("corrupt=0.01"), "run without --faults");
  EXPECT_DEATH(pass_through("reorder=0.01"), "reordered");
}

INSTANTIATE_TEST_SUITE_P(Fabrics, DirectPortTest, ::testing::ValuesIn(direct_ways()), way_name);

}  // namespace
}  // namespace fairlead::lci
