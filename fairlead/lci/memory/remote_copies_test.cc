// Long puts and gets on fabrics that copy them themselves, and on some that do not: the same
// answer.
#include "fairlead/lci/memory/remote_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

constexpr std::size_t kLong = 3 << 20;

class RemoteCopiesTest : public DirectPortTest {
 protected:
  static bool by_packets() {
    const Way& way = GetParam();
    return way.software || has_engines(way.on);
  }
  bool copies() { return (port(0).caps(1).flags & kRemoteCopy) != 0; }
  // Polls until the operation has ended; returns whether all went well.
  bool ended(Post answer, Counter& counter) {
    if (answer != Post::done && answer != Post::pending) return false;
    EXPECT_TRUE(until([&] { return counter.ok + counter.failed == 1; }));
    return counter.ok == 1;
  }
  bool get(Rank by, Remote from, std::vector<std::byte>& to, std::size_t size) {
    Counter done;
    return ended(port(by).get(from, to.data(), size, &done, kNoFlags), done);
  }
  bool fence(Rank by, Rank target) {
    Counter done;
    return ended(port(by).fence({target}, &done), done);
  }
  // A put and the fence behind it; false: one of them failed.
  bool put(Rank by, Remote to, const std::vector<std::byte>& from) {
    const PutPiece piece{to.offset, from.data(), from.size()};
    Counter done;
    const bool put =
        ended(port(by).put({to.rank}, to.segment, {&piece, 1}, &done, kNoCounter, kNoFlags), done);
    return fence(by, to.rank) && put;
  }
};

TEST_P(RemoteCopiesTest, BytesOfEveryLengthArriveBothWays) {
  start(2);
  std::vector<std::byte> exposed(kLong);
  ASSERT_EQ(port(1).expose(7, exposed.data(), exposed.size(), kRead | kWrite, nullptr, {}),
            Post::done);
  std::vector<std::byte> to(kLong);
  std::uint64_t long_ones = 0;
  for (const std::size_t size : {std::size_t{1}, kRemoteCopyBytesMin - 1, kRemoteCopyBytesMin,
                                 std::size_t{1} << 20, kLong}) {
    for (const std::size_t offset : {std::size_t{0}, (kLong - size) / 2, kLong - size}) {
      const std::vector<std::byte> data = pattern(size, size + offset);
      std::fill(exposed.begin(), exposed.end(), std::byte{0});
      ASSERT_TRUE(put(0, {1, 7, offset}, data)) << size;
      ASSERT_TRUE(std::equal(data.begin(), data.end(), exposed.data() + offset)) << size;
      // Expect: not a byte beside it
      EXPECT_EQ(std::count(exposed.begin(), exposed.begin() + static_cast<std::ptrdiff_t>(offset),
                           std::byte{0}),
                static_cast<std::ptrdiff_t>(offset));
      const auto behind = exposed.begin() + static_cast<std::ptrdiff_t>(offset + size);
      EXPECT_EQ(std::count(behind, exposed.end(), std::byte{0}), exposed.end() - behind);
      ASSERT_TRUE(get(0, {1, 7, offset}, to, size));
      ASSERT_TRUE(std::equal(data.begin(), data.end(), to.begin())) << size;
      if (size >= kRemoteCopyBytesMin) long_ones += 2;
    }
  }
  // Expect: the long ones went as copies where the fabric has them, and each was counted
  EXPECT_EQ(port(0).counters().remote_copies, copies() ? long_ones : 0);
  const On on = GetParam().on;
  const bool network = on == On::ofi || on == On::udp || on == On::paths;
  EXPECT_EQ(copies(), network && !GetParam().software);
  EXPECT_EQ(port(0).counters().puts, 15u);
  EXPECT_EQ(port(0).counters().gets, 15u);
}

TEST_P(RemoteCopiesTest, ManyAtOnceFromAllRanks) {
  start(3);
  constexpr std::size_t kSize = 200'000;
  constexpr std::uint32_t kEach = 40;
  std::vector<std::vector<std::byte>> exposed(3, std::vector<std::byte>(kEach * 3 * kSize / 10));
  for (Rank r = 0; r < 3; ++r) {
    exposed[r] = pattern(exposed[r].size(), r);
    ASSERT_EQ(port(r).expose(1, exposed[r].data(), exposed[r].size(), kRead, nullptr, {}),
              Post::done);
  }
  std::vector<std::vector<std::byte>> got(9 * kEach);
  Counter done;
  for (std::uint32_t i = 0; i < got.size(); ++i) {
    const Rank by = i % 3;
    got[i].resize(kSize);
    const Remote from{(by + 1 + i / 3 % 2) % 3, 1, i * 1000};
    ASSERT_TRUE(until([&] {
      const Post answer = port(by).get(from, got[i].data(), kSize, &done, kNoFlags);
      return answer == Post::done || answer == Post::pending;
    }));
  }
  ASSERT_TRUE(until([&] { return done.ok + done.failed == got.size(); }));
  EXPECT_EQ(done.failed, 0u);
  for (std::uint32_t i = 0; i < got.size(); ++i) {
    const std::vector<std::byte>& from = exposed[(i % 3 + 1 + i / 3 % 2) % 3];
    ASSERT_TRUE(std::equal(got[i].begin(), got[i].end(), from.data() + i * 1000)) << i;
  }
}

TEST_P(RemoteCopiesTest, BoundsPermissionsAndListsAreChecked) {
  start(3);
  const std::vector<std::byte> source = pattern(kLong, 5);
  std::vector<std::byte> exposed = source;
  std::vector<std::byte> to(kLong);
  const std::vector<std::byte> other = pattern(1 << 20, 6);
  const Rank allowed[] = {0};
  ASSERT_EQ(port(1).expose(7, exposed.data(), kLong, kRead, nullptr, allowed), Post::done);
  // Expect: nobody writes what may be read only, nor reaches it who is not listed
  EXPECT_FALSE(put(0, {1, 7, 0}, other));
  EXPECT_FALSE(put(2, {1, 7, 0}, other));
  EXPECT_FALSE(get(2, {1, 7, 0}, to, 1 << 20));
  EXPECT_FALSE(get(0, {1, 8, 0}, to, 1 << 20));
  // Expect: nothing beyond the end, before and after a key is known
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(get(0, {1, 7, 1 << 20}, to, kLong));
    EXPECT_FALSE(get(0, {1, 7, ~std::uint64_t{0} - 3}, to, 1 << 20));
    if (!by_packets()) {  // those within it do come
      EXPECT_EQ(std::count(to.begin(), to.end(), std::byte{0}), static_cast<std::ptrdiff_t>(kLong));
    }
    EXPECT_TRUE(get(0, {1, 7, 12345}, to, 1 << 20));
    EXPECT_TRUE(std::equal(to.begin(), to.begin() + (1 << 20), source.begin() + 12345));
    std::fill(to.begin(), to.end(), std::byte{0});
  }
  EXPECT_EQ(exposed, source);
  // Expect: a refused put is told once; the fence after next knows nothing of it
  EXPECT_TRUE(fence(0, 1));
  ASSERT_EQ(port(1).expose(9, exposed.data(), kLong, kWrite, nullptr, {}), Post::done);
  EXPECT_FALSE(get(0, {1, 9, 0}, to, 1 << 20));
  EXPECT_TRUE(put(0, {1, 9, 100}, other));
  EXPECT_TRUE(std::equal(other.begin(), other.end(), exposed.begin() + 100));
}

TEST_P(RemoteCopiesTest, WithdrawnMemoryIsNotReachedAndItsNameServesAgain) {
  start(3);
  std::vector<std::byte> to(1 << 20);
  const Rank one[] = {0};
  for (std::uint64_t round = 0; round < 6; ++round) {
    // Memory of its own each time, freed afterwards
    std::vector<std::byte> exposed = pattern(1 << 20, round);
    const auto allowed = round % 2 == 0 ? std::span<const Rank>{} : std::span<const Rank>(one);
    ASSERT_EQ(port(1).expose(7, exposed.data(), exposed.size(), kRead | kWrite, nullptr, allowed),
              Post::done);
    for (const Rank by : {0u, 2u}) {
      const bool may = allowed.empty() || by == 0;
      for (int i = 0; i < 2; ++i) {
        std::fill(to.begin(), to.end(), std::byte{0});
        ASSERT_EQ(get(by, {1, 7, 0}, to, to.size()), may);
        ASSERT_EQ(to == exposed, may);
      }
      const std::vector<std::byte> data = pattern(1 << 20, round + 100);
      ASSERT_EQ(put(by, {1, 7, 0}, data), may);
      ASSERT_EQ(exposed == data, may || by == 2);  // rank 0 has put it before
    }
    ASSERT_EQ(port(1).withdraw(7), Post::done);
    // What tells the peers comes before whatever they are sent next.
    Inbox box;
    port(0).bind(5, box.upcall(), {});
    port(2).bind(5, box.upcall(), {});
    for (const Rank to_whom : {0u, 2u}) {
      ASSERT_TRUE(until([&] {
        return port(1).send_small({to_whom}, 5, Lane::request, Words{}, {}, kNoBlock) == Post::done;
      }));
    }
    ASSERT_TRUE(until([&] { return box.items.size() == 2; }));
    EXPECT_FALSE(get(0, {1, 7, 0}, to, to.size()));
    EXPECT_FALSE(put(2, {1, 7, 0}, to));
    port(0).bind(5, {}, {});
    port(2).bind(5, {}, {});
  }
}

TEST_P(RemoteCopiesTest, PutsOfSeveralPiecesBumpTheirCounterAndNeedNoSources) {
  start(2);
  std::vector<std::byte> exposed(kLong);
  ASSERT_EQ(port(1).expose(7, exposed.data(), kLong, kWrite, nullptr, {}), Post::done);
  Counter bumped;
  port(1).expose_counter(5, &bumped);
  const std::vector<std::byte> data = pattern(kLong / 2, 3);
  const std::size_t half = data.size() / 2;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    std::fill(exposed.begin(), exposed.end(), std::byte{0});
    {
      // Nobody is to wait for it: the sources are free on return.
      std::vector<std::byte> source = data;
      const PutPiece pieces[] = {{100, source.data(), half},
                                 {kLong - half, source.data() + half, data.size() - half}};
      const Post answer = port(0).put({1}, 7, pieces, nullptr, 5, kNoFlags);
      ASSERT_TRUE(answer == Post::done || answer == Post::pending);
      std::fill(source.begin(), source.end(), std::byte{0xff});
    }
    // Expect: where the counter has counted, all bytes are there
    ASSERT_TRUE(until([&] { return bumped.ok == round; }));
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(half),
                           exposed.begin() + 100));
    EXPECT_TRUE(std::equal(data.begin() + static_cast<std::ptrdiff_t>(half), data.end(),
                           exposed.end() - static_cast<std::ptrdiff_t>(half)));
    EXPECT_TRUE(fence(0, 1));
  }
  // Expect: a fence is behind long and short puts alike, and so is a put with kAfter
  Counter done;
  std::uint64_t flag = 1;
  const PutPiece piece{0, data.data(), data.size()};
  const PutPiece short_one{kLong - 8, &flag, 8};
  (void)port(0).put({1}, 7, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
  ASSERT_TRUE(until([&] {
    const Post answer = port(0).put({1}, 7, {&short_one, 1}, nullptr, kNoCounter, kAfter);
    return answer == Post::done || answer == Post::pending;
  }));
  ASSERT_TRUE(ended(port(0).fence({1}, &done), done));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), exposed.begin()));
  EXPECT_EQ(exposed[kLong - 8], std::byte{1});
}

TEST_P(RemoteCopiesTest, AFenceAsksTheTargetOnlyAboutWhatNoneHasToldOf) {
  start(2);
  std::vector<std::byte> exposed(kLong);
  ASSERT_EQ(
      port(1).expose(7, exposed.data(), exposed.size(), kRead | kWrite | kAtomic, nullptr, {}),
      Post::done);
  ASSERT_TRUE(put(0, {1, 7, 0}, pattern(100, 1)));
  ASSERT_TRUE(put(0, {1, 7, 0}, pattern(kLong, 2)));
  // Expect: no packet where all is known to be there; ports on NIs ask each time
  const std::uint64_t sent = port(0).counters().packets_sent;
  EXPECT_TRUE(fence(0, 1));
  EXPECT_EQ(port(0).counters().packets_sent, sent + (has_engines(GetParam().on) ? 1 : 0));
  // Expect: a second fence waits as the first one does, for puts and atomics
  for (const bool changes : {false, true}) {
    const std::uint64_t value = 5;
    const PutPiece piece{64, &value, sizeof value};
    const Post begun =
        changes ? port(0).atomic({1, 7, 64}, Atomic::add, 4, 0, nullptr, nullptr, kNoFlags)
                : port(0).put({1}, 7, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
    ASSERT_TRUE(begun == Post::done || begun == Post::pending);
    Counter first;
    Counter second;
    (void)port(0).fence({1}, &first);
    (void)port(0).fence({1}, &second);
    EXPECT_TRUE(first.ok == 1 || second.ok == 0);
    ASSERT_TRUE(until([&] { return first.ok == 1 && second.ok == 1; }));
    std::uint64_t word = 0;
    std::memcpy(&word, exposed.data() + 64, sizeof word);
    EXPECT_EQ(word, changes ? 9u : 5u);
  }
}

TEST_P(RemoteCopiesTest, WhatIsWithdrawnDuringUseEndsOneWayOrTheOther) {
  start(2);
  const std::vector<std::byte> source = pattern(kLong, 1);
  std::vector<std::byte> to(kLong);
  for (int polls = 0; polls < 12; ++polls) {
    std::vector<std::byte> exposed = source;
    ASSERT_EQ(port(1).expose(7, exposed.data(), kLong, kRead, nullptr, {}), Post::done);
    Counter done;
    const Post begun = port(0).get({1, 7, 0}, to.data(), kLong, &done, kNoFlags);
    if (begun == Post::peer_down) break;  // the fabric took the withdrawal for a broken connection
    for (int i = 0; i < polls; ++i) poll_all();
    ASSERT_EQ(port(1).withdraw(7), Post::done);
    std::fill(exposed.begin(), exposed.end(), std::byte{0xee});
    // Expect: it ends; when it says well, each byte is one that was there while it was exposed or
    // the get was under way
    ASSERT_TRUE(begun == Post::done ||
                (begun == Post::pending && until([&] { return done.ok + done.failed == 1; })))
        << polls;
  }
}

TEST_P(RemoteCopiesTest, ALostPeerEndsWhatIsUnderWay) {
  start(3);
  std::vector<std::byte> exposed = pattern(kLong, 1);
  for (const Rank r : {1u, 2u}) {
    ASSERT_EQ(port(r).expose(7, exposed.data(), kLong, kRead, nullptr, {}), Post::done);
  }
  std::vector<std::byte> to(kLong);
  ASSERT_TRUE(get(0, {2, 7, 0}, to, kLong));  // the key is known
  Counter done;
  const Post begun = port(0).get({2, 7, 0}, to.data(), kLong, &done, kNoFlags);
  mark_dead(2);
  const std::int64_t before = monotonic_ns();
  // Rank 2 is heard of no more: it is not polled.
  while (begun == Post::pending && done.ok + done.failed == 0 &&
         monotonic_ns() < before + 10'000'000'000) {
    port(0).poll();
    port(1).poll();
  }
  // Expect: one way or the other, once, and soon
  EXPECT_EQ(done.ok + done.failed, 1u);
  Counter later;
  const Post after = port(0).get({2, 7, 0}, to.data(), kLong, &later, kNoFlags);
  if (after == Post::pending) {
    while (later.ok + later.failed == 0 && monotonic_ns() < before + 10'000'000'000) port(0).poll();
    EXPECT_EQ(later.ok + later.failed, 1u);
  }
  // Expect: the others go on
  std::fill(to.begin(), to.end(), std::byte{0});
  Counter other;
  (void)port(0).get({1, 7, 0}, to.data(), kLong, &other, kNoFlags);
  while (other.ok + other.failed == 0 && monotonic_ns() < before + 10'000'000'000) {
    port(0).poll();
    port(1).poll();
  }
  EXPECT_EQ(other.ok, 1u);
  EXPECT_EQ(to, exposed);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, RemoteCopiesTest, ::testing::ValuesIn(remote_memory_ways()),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
