// What is sent or put with kAfter is behind all that was put before, whichever way each goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

constexpr std::size_t kLong = 1 << 20;
constexpr Chan kChan = 5;

bool taken(Post answer) { return answer == Post::done || answer == Post::pending; }
bool again(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

class AfterPutsTest : public DirectPortTest {
 protected:
  // Rank 1 exposes memory of its own, and looks at it when a message comes.
  struct Target {
    std::vector<std::byte> memory = std::vector<std::byte>(kLong);
    std::vector<std::byte> wanted{};
    std::atomic<std::uint32_t> came = 0;
    std::uint32_t early = 0;  // before the bytes
    // Moves when a put has been called and before the message is sent: says so to
    // ThreadSanitizer, which knows nothing of memory that is mapped twice.
    std::atomic<std::uint32_t> put = 0;
    static Keep run(void* self, Packet*, const Arrival&) {
      auto& me = *static_cast<Target*>(self);
      (void)me.put.load();
      if (!std::equal(me.wanted.begin(), me.wanted.end(), me.memory.begin())) ++me.early;
      ++me.came;
      return Keep::no;
    }
  };
  void start_two() {
    start(2);
    ASSERT_EQ(port(1).expose(7, target_.memory.data(), kLong, kRead | kWrite, nullptr, {}),
              Post::done);
    port(1).bind(kChan, {&Target::run, &target_}, {});
  }
  // In several pieces, some of them short.
  void put(const std::vector<std::byte>& bytes) {
    const std::size_t third = bytes.size() / 3;
    const std::size_t from[] = {0, third, bytes.size()};
    for (int i = 0; i < 2; ++i) {
      const PutPiece piece{from[i], bytes.data() + from[i], from[i + 1] - from[i]};
      ASSERT_TRUE(until([&] {
        return taken(port(0).put({1}, 7, {&piece, 1}, &put_, kNoCounter, kNoFlags));
      }));
    }
  }
  Post send(Rank by, Dest to, Lane lane, bool small, std::uint32_t flags) {
    if (small) return port(by).send_small(to, kChan, lane, Words{}, {}, flags);
    Packet* const packet = port(by).alloc(to, lane, 0, kNoBlock);
    if (packet == nullptr) return Post::again_buffer;
    const Post answer = port(by).send(packet, kChan, Words{}, 0, {}, nullptr, flags);
    if (!taken(answer)) port(by).release(packet);
    return answer;
  }

  Target target_;
  Counter put_;
};

TEST_P(AfterPutsTest, MessagesOfEveryLane) {
  start_two();
  std::uint32_t sent = 0;
  for (std::uint64_t round = 0; round < 24; ++round) {
    const std::size_t size = std::array{std::size_t{64}, std::size_t{5000}, kLong}[round % 3];
    const auto lane = static_cast<Lane>(round / 3 % 3);
    target_.wanted = pattern(size, round);
    put(target_.wanted);
    ++sent;
    ASSERT_TRUE(
        until([&] { return taken(send(0, {1}, lane, round % 2 == 0, kAfter | kNoBlock)); }));
    ASSERT_TRUE(until([&] { return target_.came == sent; }));
    ASSERT_EQ(target_.early, 0u) << round;
    // Expect: where nothing is on its way, nothing is waited for
    ASSERT_TRUE(until([&] { return put_.ok == 2 * sent; }));
  }
  EXPECT_EQ(put_.failed, 0u);
}

TEST_P(AfterPutsTest, MessagesToAGroup) {
  start(3);
  std::array<Target, 3> targets;
  for (Rank r = 0; r < 3; ++r) {
    ASSERT_EQ(port(r).expose(7, targets[r].memory.data(), kLong, kRead | kWrite, nullptr, {}),
              Post::done);
    port(r).bind(kChan, {&Target::run, &targets[r]}, {});
    const Rank members[] = {0, 1, 2};
    ASSERT_EQ(port(r).group(3, members), Post::done);
  }
  for (std::uint32_t round = 1; round <= 6; ++round) {
    const std::vector<std::byte> bytes = pattern(round % 2 == 0 ? 6000 : kLong, round);
    Counter done;
    for (const Rank to : {1u, 2u}) {
      targets[to].wanted = bytes;
      const PutPiece piece{0, bytes.data(), bytes.size()};
      ASSERT_TRUE(until([&] {
        return taken(port(0).put({to}, 7, {&piece, 1}, &done, kNoCounter, kNoFlags));
      }));
    }
    ASSERT_TRUE(until([&] {
      return taken(send(0, {3, true}, Lane::request, round % 3 == 0, kAfter | kNoBlock));
    }));
    ASSERT_TRUE(until([&] { return targets[1].came == round && targets[2].came == round; }));
    ASSERT_EQ(targets[1].early + targets[2].early, 0u) << round;
    ASSERT_TRUE(until([&] { return done.ok == 2; }));
  }
}

TEST_P(AfterPutsTest, AnUpcallIsToldToTryAgain) {
  start_two();
  struct Asked {
    Port* port;
    std::vector<std::byte> bytes;
    Counter done;
    Post answer = Post::invalid;
  };
  Asked asked{&port(0), pattern(kLong, 3), {}, {}};
  target_.wanted = asked.bytes;
  port(0).bind(
      kChan + 1,
      {[](void* self, Packet*, const Arrival&) {
         auto& me = *static_cast<Asked*>(self);
         const PutPiece piece{0, me.bytes.data(), me.bytes.size()};
         EXPECT_TRUE(taken(me.port->put({1}, 7, {&piece, 1}, &me.done, kNoCounter, kNoFlags)));
         me.answer = me.port->send_small({1}, kChan, Lane::reply, Words{}, {}, kAfter);
         return Keep::no;
       },
       &asked},
      {});
  ASSERT_EQ(port(1).send_small({0}, kChan + 1, Lane::request, Words{}, {}, kNoBlock), Post::done);
  ASSERT_TRUE(until([&] { return asked.answer != Post::invalid; }));
  EXPECT_TRUE(asked.answer == Post::done || again(asked.answer));
  ASSERT_TRUE(until([&] {
    if (again(asked.answer)) asked.answer = send(0, {1}, Lane::reply, true, kAfter | kNoBlock);
    return taken(asked.answer) && target_.came == 1;
  }));
  EXPECT_EQ(target_.early, 0u);
}

TEST_P(AfterPutsTest, ASenderThatMayWaitDoes) {
  if (GetParam().on == On::loop) GTEST_SKIP() << "of one thread";
  start_two();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) port(1).poll();
  });
  for (std::uint64_t round = 0; round < 9; ++round) {
    const std::vector<std::byte> bytes = pattern(round % 2 == 0 ? kLong : 9000, round);
    const auto lane = static_cast<Lane>(round % 3);
    Counter done;
    const PutPiece piece{0, bytes.data(), bytes.size()};
    target_.wanted = bytes;
    EXPECT_TRUE(taken(port(0).put({1}, 7, {&piece, 1}, &done, kNoCounter, kNoFlags)));
    ++target_.put;
    EXPECT_EQ(send(0, {1}, lane, round % 2 == 0, kAfter), Post::done);
    EXPECT_EQ(port(0).wait({.counter = &done, .at = 1}), Post::done);
    // The next round's bytes are wanted when this one's message has been looked at.
    Counter answered;
    std::uint64_t word = 0;
    EXPECT_TRUE(taken(port(0).get({1, 7, 0}, &word, 8, &answered, kNoFlags)));
    EXPECT_EQ(port(0).wait({.counter = &answered, .at = 1}), Post::done);
    while (target_.came <= round) port(0).poll();
  }
  stop = true;
  other.join();
  EXPECT_EQ(target_.came.load(), 9u);
  EXPECT_EQ(target_.early, 0u);
}

TEST_P(AfterPutsTest, PutsToMemoryThatIsMapped) {
  start_two();
  auto* const flag = static_cast<std::uint64_t*>(port(1).allocate(9, 64, Place::host));
  ASSERT_NE(flag, nullptr);
  for (std::uint64_t round = 1; round <= 8; ++round) {
    target_.wanted = pattern(round % 2 == 0 ? 7000 : kLong, round);
    put(target_.wanted);
    const PutPiece piece{0, &round, 8};
    const auto early = [&] {
      return std::atomic_ref(*flag).load() == round &&
             !std::equal(target_.wanted.begin(), target_.wanted.end(), target_.memory.begin());
    };
    ASSERT_TRUE(until([&] {
      return taken(port(0).put({1}, 9, {&piece, 1}, nullptr, kNoCounter, kAfter));
    }));
    ASSERT_FALSE(early());
    ASSERT_TRUE(until([&] { return early() || std::atomic_ref(*flag).load() == round; }));
    ASSERT_FALSE(early()) << round;
    ASSERT_TRUE(until([&] { return put_.ok == 2 * round; }));
  }
}

TEST_P(AfterPutsTest, ALostPeerHoldsUpNobody) {
  start_two();
  target_.wanted = pattern(kLong, 1);
  put(target_.wanted);
  (void)send(0, {1}, Lane::reply, true, kAfter | kNoBlock);
  mark_dead(1);
  const std::int64_t give_up = monotonic_ns() + 10'000'000'000;
  Post answer = Post::again_credit;
  // Rank 1 is polled no more.
  while (again(answer) && monotonic_ns() < give_up) {
    port(0).poll();
    answer = send(0, {1}, Lane::reply, true, kAfter | kNoBlock);
  }
  EXPECT_FALSE(again(answer));
}

INSTANTIATE_TEST_SUITE_P(Fabrics, AfterPutsTest, ::testing::ValuesIn(remote_memory_ways()),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
