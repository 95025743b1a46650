// Packets that are received without an upcall, among others that have one; and where there is no
// fast path.
#include "fairlead/lci/client/fast_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "fairlead/fabric/shm/view.h"
#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

constexpr Chan kChan = 5;

class FastPathTest : public DirectPortTest {
 protected:
  bool there_is_one() const {
    return GetParam().on == On::shm && GetParam().membarrier && GetParam().faults == nullptr;
  }
  // Rank 1 takes from rank 0 and adds that to box_. `may`: whether a number may be taken.
  bool receive(std::size_t wanted, const std::function<bool(std::uint32_t)>& may) {
    const FastPath straight = port(1).fast_path(kChan, Lane::request);
    return straight.receive(
        0,
        [&](WordVector words, const auto& bytes, std::size_t size) {
          if (!may(words[0])) return false;
          std::vector<std::byte> data(size);
          bytes.copy_to(data.data(), size);
          box_.items.push_back({0, Lane::request, false, words[0], std::move(data)});
          ++taken_;
          longest_taken_ = std::max(longest_taken_, size);
          return true;
        },
        [&] { return box_.items.size() >= wanted; });
  }
  void send(std::uint32_t number, std::size_t size, Chan chan = kChan) {
    const auto data = pattern(size, number);
    const FastPath straight = port(0).fast_path(chan, Lane::request);
    if (number % 3 == 0 &&
        straight.post_longer(1, WordVector{number, 0, 0, 7}, data.data(), size)) {
      ++posted_;
      return;
    }
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
  int posted_ = 0;
  int taken_ = 0;
  std::size_t longest_taken_ = 0;
};

// Expect: each packet once and in order, whichever way it took: posted by the fast path or by
// calls, in one slot or two, in buffers, taken or refused; many times round the ring.
TEST_P(FastPathTest, TakesWhatItCanAndLeavesTheRestInOrder) {
  start(2);
  port(1).bind(kChan, box_.upcall(), {});
  const auto size_of = [](std::uint32_t i) -> std::size_t {
    return i % 11 == 10 ? 89 + i % 3000 : i % 5 == 4 ? 33 + i % 56 : i % 33;
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
  EXPECT_EQ(taken_ > 600, there_is_one()) << taken_;
  EXPECT_EQ(posted_ > 600, there_is_one()) << posted_;
  EXPECT_EQ(longest_taken_ > 2000, there_is_one()) << longest_taken_;
  EXPECT_TRUE(there_is_one() || taken_ == 0);
}

// Expect: nothing overtakes what came before its channel was bound, nothing comes while upcalls
// are held off, and nothing from an empty ring.
TEST_P(FastPathTest, WaitsWhereUpcallsWould) {
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
TEST_P(FastPathTest, LeavesThePacketsOfOtherChannels) {
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

// Expect: what a peer cannot have sent is left to poll(), which counts and drops it, and what lies
// behind it is taken.
TEST_P(FastPathTest, LeavesSlotsThatMakeNoSense) {
  start(2);
  if (!there_is_one()) GTEST_SKIP();
  port(1).bind(kChan, box_.upcall(), {});
  send(0, 8);
  ASSERT_TRUE(until([&] { return box_.items.size() == 1; }));
  fabric::ShmSlot* const ring = fabric::ShmView(job_->base(), job_->layout()).ring(1, 0, 0);
  ASSERT_EQ(fabric::shm_ring_start(0, 0), 0u);
  struct Forged {
    std::size_t size;
    std::uint32_t in_buffer, index;
  };
  const Forged all[] = {{fabric::kShmSlotBytes + 1, 0, 0},  // a tail where none can be
                        {fabric::kShmInlineBytes + 1, 0, 0},
                        {100, fabric::kShmInBuffer, fabric::kShmBuffers},
                        {100, fabric::kShmInBuffer, 0xffffffff},
                        {fabric::kShmBufferBytes + 1, fabric::kShmInBuffer, 0},
                        {0, 0, 0}};
  std::uint32_t position = 1;
  for (const Forged& forged : all) {
    fabric::ShmSlot& slot = ring[position];
    slot.route = fabric::route_of(fabric::PacketKind::data, 0, kChan, 0);
    slot.words[0] = 1;
    std::memcpy(slot.payload, &forged.index, sizeof forged.index);
    slot.flag.store(fabric::shm_flag(static_cast<std::uint32_t>(forged.size),
                                     fabric::shm_stamp(position) | forged.in_buffer));
    const bool good = forged.size == 0;
    EXPECT_EQ(receive(2, [](std::uint32_t) { return true; }), good) << position;
    if (!good) port(1).poll();
    // One that claims to be two slots is passed as such where it could begin.
    position += position % 2 == 0 && forged.in_buffer == 0 ? 2 : 1;
  }
  EXPECT_EQ(port(1).counters().corrupt_dropped, std::size(all) - 1);
  EXPECT_EQ(taken_, 1);
  EXPECT_EQ(box_.items.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, FastPathTest,
                         ::testing::Values(Way{"loop", On::loop, false}, Way{"shm", On::shm, false},
                                           Way{"shm_no_membarrier", On::shm, false, false},
                                           Way{"shm_hrx_bad", On::shm, true, true, kBad},
                                           Way{"paths", On::paths, true, true, ""},
                                           Way{"engine", On::engine, true}),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
