// Packets that are received without an upcall, among others that have one; and where there is no
// straight way.
#include "fairlead/lci/straight_way.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fairlead/lci/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

constexpr Chan kChan = 5;

class StraightWayTest : public DirectPortTest {
 protected:
  bool there_is_one() const {
    return GetParam().on == On::shm && GetParam().membarrier && GetParam().faults == nullptr;
  }
  // Of rank 1 from rank 0; adds what it took to box_. `may`: of a number.
  bool receive(std::size_t wanted, const std::function<bool(std::uint32_t)>& may) {
    const StraightWay straight = port(1).straight_way(kChan, Lane::request);
    return straight.receive(
        0,
        [&](WordVector words, const std::byte* data, std::size_t size) {
          if (!may(words[0])) return false;
          box_.items.push_back({0, Lane::request, false, words[0], {data, data + size}});
          ++taken_;
          return true;
        },
        [&] { return box_.items.size() >= wanted; });
  }
  void send(std::uint32_t number, std::size_t size, Chan chan = kChan) {
    const auto data = pattern(size, number);
    ASSERT_TRUE(until([&] {
      if (size <= port(0).caps(1).inline_bytes_max) {
        return port(0).send_small({1}, chan, Lane::request, {number, 0, 0, 7}, data, kNoBlock) ==
               Post::done;
      }
      Packet* packet = port(0).alloc({1}, Lane::request, size, kNoBlock);
      if (packet == nullptr) return false;
      const Piece piece{data.data(), size};
      const Post answer =
          port(0).send(packet, chan, {number, 0, 0, 7}, 0, {&piece, 1}, nullptr, kNoBlock);
      if (answer != Post::done) port(0).release(packet);
      return answer == Post::done;
    }));
  }
  void expect_all(std::uint32_t count, const std::function<std::size_t(std::uint32_t)>& size_of) {
    ASSERT_EQ(box_.items.size(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(box_.items[i].word0, i);
      ASSERT_EQ(box_.items[i].source, 0u);
      ASSERT_EQ(box_.items[i].data, pattern(size_of(i), i));
    }
    EXPECT_EQ(port(1).counters().packets_received, count);
  }

  Inbox box_;
  int taken_ = 0;
};

// Expect: each packet once and in order, whichever way it took: by the way of one or of more slots,
// by buffers, taken or refused; many times round the ring.
TEST_P(StraightWayTest, TakesWhatItCanAndLeavesTheRestInOrder) {
  start(2);
  port(1).bind(kChan, box_.upcall(), {});
  const auto size_of = [](std::uint32_t i) -> std::size_t {
    return i % 50 == 49 ? 3000 : i % 20 == 19 ? 64 : i % 33;
  };
  constexpr std::uint32_t kCount = 3000;
  std::uint32_t sent = 0;
  while (box_.items.size() < kCount) {
    const std::uint32_t batch = 1 + sent % 41;
    for (std::uint32_t i = 0; i < batch && sent < kCount; ++i) {
      send(sent, size_of(sent));
      ++sent;
    }
    // The last that is waited for is in the middle of the batch: some more may come with it.
    const std::size_t wanted = box_.items.size() + batch / 2;
    const bool all = receive(wanted, [](std::uint32_t number) { return number % 64 != 63; });
    if (!all) port(1).poll();
    ASSERT_TRUE(!all || box_.items.size() >= wanted);
    if (sent == kCount) poll_all();
  }
  expect_all(kCount, size_of);
  EXPECT_EQ(taken_ > 300, there_is_one()) << taken_;
  EXPECT_TRUE(there_is_one() || taken_ == 0);
}

// Expect: nothing overtakes what came before its channel was bound, nothing comes while upcalls
// are held off, and nothing from an empty ring.
TEST_P(StraightWayTest, WaitsWhereUpcallsWould) {
  start(2);
  const auto any = [](std::uint32_t) { return true; };
  const auto size_of = [](std::uint32_t) -> std::size_t { return 8; };
  send(0, 8);
  ASSERT_TRUE(until([&] { return port(1).counters().packets_received == 1; }));
  port(1).bind(kChan, box_.upcall(), {});
  send(1, 8);
  EXPECT_FALSE(receive(1, any));
  EXPECT_EQ(taken_, 0);
  ASSERT_TRUE(until([&] { return box_.items.size() == 2; }));

  send(2, 8);
  port(1).hold();
  EXPECT_FALSE(receive(3, any));
  EXPECT_EQ(box_.items.size(), 2u);
  port(1).allow();
  // What was not polled for yet: by now the ring is one that the receiver looks at.
  EXPECT_EQ(receive(3, any), there_is_one());
  ASSERT_TRUE(until([&] { return box_.items.size() == 3; }));
  EXPECT_FALSE(receive(4, any));
  expect_all(3, size_of);
}

// Expect: what another channel is waiting for goes there, and what lies behind it waits.
TEST_P(StraightWayTest, LeavesThePacketsOfOtherChannels) {
  start(2);
  Inbox other;
  port(1).bind(kChan, box_.upcall(), {});
  port(1).bind(kChan + 1, other.upcall(), {});
  send(0, 8);
  ASSERT_TRUE(until([&] { return box_.items.size() == 1; }));
  send(7, 8, kChan + 1);
  send(1, 8);
  EXPECT_FALSE(receive(2, [](std::uint32_t) { return true; }));
  EXPECT_EQ(taken_, 0);
  ASSERT_TRUE(until([&] { return box_.items.size() == 2 && other.items.size() == 1; }));
  EXPECT_EQ(other.items[0].word0, 7u);
  EXPECT_EQ(box_.items[1].word0, 1u);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, StraightWayTest,
                         ::testing::Values(Way{"loop", On::loop, false}, Way{"shm", On::shm, false},
                                           Way{"shm_no_membarrier", On::shm, false, false},
                                           Way{"shm_hrx_bad", On::shm, true, true, kBad},
                                           Way{"paths", On::paths, true, true, ""},
                                           Way{"engine", On::engine, true}),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
