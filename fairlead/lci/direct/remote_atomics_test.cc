// Atomics on fabrics that have them, by packets and by the processor: the same answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fairlead/lci/direct/direct_port_fixture.h"
#include "fairlead/lci/memory/remote_copies.h"

namespace fairlead::lci {
namespace {

constexpr std::uint32_t kAll = kRead | kWrite | kAtomic;

class RemoteAtomicsTest : public DirectPortTest {
 protected:
  bool by_fabric() { return (port(0).caps(1).flags & kRemoteAtomic) != 0; }
  Post start_one(Rank by, Remote word, Atomic op, std::uint64_t a, std::uint64_t b,
                 std::uint64_t* old, Counter* done, std::uint32_t flags = kNoFlags) {
    Post answer = Post::invalid;
    EXPECT_TRUE(until([&] {
      answer = port(by).atomic(word, op, a, b, old, done, flags);
      return answer != Post::again_buffer && answer != Post::again_credit;
    }));
    return answer;
  }
  // Returns whether it went well.
  bool change(Rank by, Remote word, Atomic op, std::uint64_t a, std::uint64_t b = 0,
              std::uint64_t* old = nullptr, std::uint32_t flags = kNoFlags) {
    Counter done;
    const Post answer = start_one(by, word, op, a, b, old, &done, flags);
    if (answer != Post::done && answer != Post::pending) return false;
    EXPECT_TRUE(until([&] { return done.ok + done.failed == 1; }));
    return done.ok == 1;
  }
  // As its owner sees it.
  static std::uint64_t value(std::uint64_t& word) {
    return std::atomic_ref<std::uint64_t>(word).load();
  }
  void expose(Rank owner, SegId segment, void* base, std::size_t size, std::uint32_t permissions,
              std::span<const Rank> allowed = {}) {
    ASSERT_EQ(port(owner).expose(segment, base, size, permissions, nullptr, allowed), Post::done);
  }
};

TEST_P(RemoteAtomicsTest, EachOperationAnswersTheFormerValue) {
  start(3);
  std::vector<std::uint64_t> words(4, 100);
  expose(1, 7, words.data(), 32, kAll);
  for (const Rank by : {0u, 1u, 2u, 0u}) {
    words[2] = 100;
    std::uint64_t old = 0;
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::add, 5, 0, &old));
    EXPECT_EQ(old, 100u);
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::add, ~std::uint64_t{0}, 0, &old));
    EXPECT_EQ(old, 105u);
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::swap, 0xff00ff00ff00ff00, 0, &old));
    EXPECT_EQ(old, 104u);
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::bit_and, 0xf0f0f0f0f0f0f0f0, 0, &old));
    EXPECT_EQ(old, 0xff00ff00ff00ff00);
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::bit_or, 0x0000000000000003, 0, &old));
    EXPECT_EQ(old, 0xf000f000f000f000);
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::bit_xor, 0x0000000000000001, 0, &old));
    EXPECT_EQ(old, 0xf000f000f000f003);
    // Expect: a compare that fails changes nothing, one that holds does
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::compare_swap, 1, 9, &old));
    EXPECT_EQ(old, 0xf000f000f000f002);
    EXPECT_TRUE(change(by, {1, 7, 16}, Atomic::compare_swap, 0xf000f000f000f002, 9, &old));
    EXPECT_EQ(old, 0xf000f000f000f002);
    EXPECT_EQ(value(words[2]), 9u);
    EXPECT_EQ(value(words[1]), 100u);
    EXPECT_EQ(value(words[3]), 100u);
  }
  // Expect: each counted, and as the fabric's where it did it
  EXPECT_EQ(port(0).counters().atomics, 16u);
  EXPECT_EQ(port(0).counters().remote_atomics, by_fabric() ? 16u : 0u);
  EXPECT_EQ(by_fabric(), std::string(GetParam().name) == "ofi_tcp");
}

TEST_P(RemoteAtomicsTest, FetchAndAddsOfAllRanksLoseNothingAndAnswerEachValueOnce) {
  start(4);
  constexpr std::uint32_t kEach = 600;
  constexpr std::uint32_t kWindow = 16;
  std::array<std::uint64_t, 1> word{};
  // By two names, the second of which the fabric's own operations cannot go by.
  expose(2, 7, word.data(), 8, kAll);
  expose(2, 8, word.data(), 8, kAtomic);
  struct Asked {
    std::vector<std::uint64_t> old = std::vector<std::uint64_t>(kEach);
    Counter done;
    std::uint32_t begun = 0;
  };
  std::array<Asked, 4> asked;
  const auto all_done = [&] {
    return std::all_of(asked.begin(), asked.end(),
                       [](const Asked& a) { return a.done.ok == kEach; });
  };
  ASSERT_TRUE(until([&] {
    for (Rank by = 0; by < 4; ++by) {
      Asked& mine = asked[by];
      EXPECT_EQ(mine.done.failed, 0u);
      while (mine.begun < kEach && mine.begun < mine.done.ok + kWindow) {
        const SegId segment = by == 3 && mine.begun % 2 == 1 ? 8 : 7;
        const Post answer =
            port(by).atomic({2, segment, 0}, Atomic::add, 1, 0, &mine.old[mine.begun], &mine.done);
        if (answer != Post::done && answer != Post::pending) break;
        ++mine.begun;
      }
    }
    return all_done();
  }));
  EXPECT_EQ(value(word[0]), 4 * kEach);
  std::vector<std::uint64_t> all;
  for (const Asked& one : asked) all.insert(all.end(), one.old.begin(), one.old.end());
  std::sort(all.begin(), all.end());
  for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  EXPECT_EQ(port(0).counters().remote_atomics, by_fabric() ? kEach : 0u);
  EXPECT_EQ(port(3).counters().remote_atomics, by_fabric() ? kEach / 2 : 0u);
  EXPECT_EQ(port(3).counters().atomics, kEach);
}

TEST_P(RemoteAtomicsTest, AThreadOfTheOwnerLosesNothingEither) {
  start(2);
  constexpr std::uint64_t kEach = 500;
  alignas(8) std::uint64_t word = 0;
  expose(1, 7, &word, 8, kAll);
  std::uint64_t theirs = 0;
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    for (; !stop; ++theirs) std::atomic_ref<std::uint64_t>(word).fetch_add(1);
  });
  for (std::uint64_t i = 0; i < kEach; ++i) EXPECT_TRUE(change(0, {1, 7, 0}, Atomic::add, 1));
  stop = true;
  owner.join();
  EXPECT_EQ(value(word), kEach + theirs);
}

TEST_P(RemoteAtomicsTest, WordsOfFourBytesAreTheFabricsToo) {
  start(2);
  alignas(8) std::array<std::uint32_t, 4> words{1, 2, 3, 4};
  expose(1, 7, words.data(), sizeof words, kAll);
  std::uint64_t old = ~std::uint64_t{0};
  EXPECT_TRUE(change(0, {1, 7, 4}, Atomic::add, ~std::uint64_t{0}, 0, &old, kWord4));
  EXPECT_EQ(old, 2u);
  EXPECT_TRUE(change(0, {1, 7, 12}, Atomic::compare_swap, 1ull << 32 | 4, 9, &old, kWord4));
  EXPECT_EQ(old, 4u);
  EXPECT_FALSE(change(0, {1, 7, 6}, Atomic::add, 1, 0, nullptr, kWord4));
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{1, 1, 3, 9}));
  EXPECT_EQ(port(0).counters().remote_atomics, by_fabric() ? 2u : 0u);
}

TEST_P(RemoteAtomicsTest, WrongSegmentsOffsetsAndPermissionsAreErrors) {
  start(3);
  std::vector<std::uint64_t> words(8, 1);
  const Rank allowed[] = {0};
  expose(1, 7, words.data(), 32, kAll, allowed);
  expose(1, 8, words.data() + 4, 32, kRead | kWrite);
  for (int i = 0; i < 2; ++i) {
    // Expect: so before and after the segment is known
    EXPECT_FALSE(change(0, {1, 9, 0}, Atomic::add, 1));
    EXPECT_FALSE(change(0, {1, 8, 0}, Atomic::add, 1));
    EXPECT_FALSE(change(0, {1, 7, 32}, Atomic::add, 1));
    EXPECT_FALSE(change(0, {1, 7, 4}, Atomic::add, 1));
    EXPECT_FALSE(change(0, {1, 7, ~std::uint64_t{0} - 7}, Atomic::add, 1));
    EXPECT_FALSE(change(0, {3, 7, 0}, Atomic::add, 1));
    EXPECT_FALSE(change(2, {1, 7, 0}, Atomic::add, 1));
    EXPECT_TRUE(change(0, {1, 7, 24}, Atomic::add, 0));
  }
  EXPECT_EQ(words, std::vector<std::uint64_t>(8, 1));
}

TEST_P(RemoteAtomicsTest, SegmentsThatTheFabricCannotReachWholeAreServedAllTheSame) {
  start(2);
  std::vector<std::uint64_t> words(5, 0);
  expose(1, 7, words.data(), 8, kAtomic);
  // Words of 8 bytes, which begin in the middle of the segment's
  expose(1, 8, reinterpret_cast<std::byte*>(words.data()) + 4, 32, kAll);
  for (std::uint64_t i = 0; i < 4; ++i) {
    std::uint64_t old = 77;
    EXPECT_TRUE(change(0, {1, 7, 0}, Atomic::add, 1, 0, &old));
    EXPECT_EQ(old, i);
    EXPECT_TRUE(change(0, {1, 8, 4}, Atomic::add, 2, 0, &old));
    EXPECT_EQ(old, 2 * i);
    EXPECT_FALSE(change(0, {1, 8, 0}, Atomic::add, 2, 0, &old));
  }
  EXPECT_EQ(port(0).counters().remote_atomics, 0u);
}

TEST_P(RemoteAtomicsTest, AWithdrawnWordIsReachedNoMoreAndItsNameServesAgain) {
  start(2);
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::vector<std::uint64_t> words(4, round);
    expose(1, 7, words.data(), 32, kAll);
    std::uint64_t old = 0;
    EXPECT_TRUE(change(0, {1, 7, 8}, Atomic::add, 10, 0, &old));
    EXPECT_EQ(old, round);
    EXPECT_EQ(value(words[1]), round + 10);
    ASSERT_EQ(port(1).withdraw(7), Post::done);
    // What tells the peer comes before whatever it is sent next.
    Inbox box;
    port(0).bind(5, box.upcall(), {});
    ASSERT_TRUE(until([&] {
      return port(1).send_small({0}, 5, Lane::request, Words{}, {}, kNoBlock) == Post::done;
    }));
    ASSERT_TRUE(until([&] { return box.items.size() == 1; }));
    EXPECT_FALSE(change(0, {1, 7, 8}, Atomic::add, 10));
    EXPECT_EQ(value(words[1]), round + 10);
    port(0).bind(5, {}, {});
  }
}

TEST_P(RemoteAtomicsTest, AFenceIsBehindThemAll) {
  start(2);
  std::vector<std::uint64_t> words(64, 0);
  expose(1, 7, words.data(), words.size() * 8, kAll);
  for (std::uint64_t round = 1; round <= 20; ++round) {
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      const Post answer = start_one(0, {1, 7, i * 8}, Atomic::add, i, 0, nullptr, nullptr);
      ASSERT_TRUE(answer == Post::done || answer == Post::pending);
    }
    Counter done;
    ASSERT_TRUE(until([&] {
      const Post answer = port(0).fence({1}, &done);
      return answer == Post::done || answer == Post::pending;
    }));
    ASSERT_TRUE(until([&] { return done.ok + done.failed > 0; }));
    EXPECT_EQ(done.ok, 1u);
    for (std::uint64_t i = 0; i < words.size(); ++i) ASSERT_EQ(value(words[i]), i * round);
  }
}

TEST_P(RemoteAtomicsTest, ALostPeerEndsWhatIsUnderWay) {
  start(3);
  std::vector<std::uint64_t> words(2, 0);
  expose(1, 7, words.data(), 16, kAll);
  expose(2, 7, words.data() + 1, 8, kAll);
  ASSERT_TRUE(change(0, {2, 7, 0}, Atomic::add, 1));
  // Rank 2 is heard of no more: it is not polled.
  constexpr std::uint64_t kMany = 20;
  Counter done;
  std::array<std::uint64_t, kMany> old;
  old.fill(99);
  std::uint64_t refused = 0;
  for (std::uint64_t& one : old) {
    const Post answer = port(0).atomic({2, 7, 0}, Atomic::add, 1, 0, &one, &done);
    if (answer != Post::done && answer != Post::pending) ++refused;
  }
  const std::int64_t before = monotonic_ns();
  const auto ended = [&](Counter& counter, std::uint64_t count) {
    while (counter.ok + counter.failed < count && monotonic_ns() < before + 10'000'000'000) {
      port(0).poll();
      port(1).poll();
    }
    return counter.ok + counter.failed == count;
  };
  mark_dead(2);
  // Expect: each ends once and soon; what failed returns no value
  EXPECT_TRUE(ended(done, kMany - refused));
  for (int i = 0; i < 100; ++i) port(0).poll();
  EXPECT_EQ(done.ok + done.failed, kMany - refused);
  EXPECT_GE(std::count(old.begin(), old.end(), 99u), static_cast<std::int64_t>(kMany - done.ok));
  // Expect: whoever waits is told, and so is who asks again, where the word is not the processor's
  EXPECT_EQ(port(0).wait({.deadline = port(0).now() + milliseconds(200)}), Post::peer_down);
  Counter later;
  const Post after = port(0).atomic({2, 7, 0}, Atomic::add, 1, 0, nullptr, &later);
  EXPECT_TRUE(after != Post::pending || ended(later, 1));
  EXPECT_TRUE(GetParam().on != On::ofi || later.ok == 0);
  // Expect: the others go on
  Counter other;
  std::uint64_t value = 7;
  (void)port(0).atomic({1, 7, 0}, Atomic::add, 1, 0, &value, &other);
  EXPECT_TRUE(ended(other, 1));
  EXPECT_EQ(other.ok, 1u);
  EXPECT_EQ(value, 0u);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, RemoteAtomicsTest, ::testing::ValuesIn(remote_memory_ways()),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
