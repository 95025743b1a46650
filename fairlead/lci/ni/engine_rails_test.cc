// Copies between two NI engines that two rails join: both carry them, under loss, at different
// rates, and when one falls silent; and what must come behind them does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/base/test_pattern.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/ni/copy_stripes.h"
#include "fairlead/lci/ni/engine_endpoint.h"
#include "fairlead/lci/ni/ni_engine.h"
#include "fairlead/lci/paths/rails_fixture.h"

namespace fairlead::lci {
namespace {

using rails_fixture::test_ns;
using rails_fixture::Wire;

constexpr std::size_t kBytes = 1 << 20;
constexpr SegId kSegment = 7;
constexpr SegId kPrivate = 8;
constexpr CtrId kCounter = 3;

// Ranks 0 and 1, each on a node of its own, of four; turned by the test.
class EngineRailsTest : public rails_fixture::RailsNicTest {
 protected:
  EngineRailsTest() {
    for (Peer node = 0; node < 2; ++node) {
      jobs_[node] = std::move(fabric::ShmJob::create({kNodes, 48 << 20, 0}).value());
      NiEngineOptions options;
      options.nodes = nodes_;
      options.self = node;
      options.epoch = nanoseconds(monotonic_ns());
      options.wait = wait_plan_fibers();
      options.window = 8;  // acknowledgments come at once here: a larger one is never full
      options.fatal = [this](const std::string& reason) { fatal_ += reason; };
      engines_[node] = std::make_unique<NiEngine>(*jobs_[node], *nics_[node], options);
      engines_[node]->ready();
      fabric::engine::HostOptions host;
      host.nodes = nodes_;
      host.self = node;
      host.wait = wait_plan_fibers();
      ranks_[node] = std::move(make_engine_endpoint(*jobs_[node], host, {}).value());
    }
    there_ = static_cast<std::byte*>(port(1).allocate(kSegment, kBytes, Place::host));
    EXPECT_NE(there_, nullptr);
  }
  Port& port(Rank rank) { return ranks_[rank]->port(); }
  void turn() {
    test_ns = monotonic_ns();
    for (const auto& rank : ranks_) (void)rank->port().poll();
    for (const auto& engine : engines_) (void)engine->turn();
  }
  // Until the counter has come so far; how long that took.
  Ps finish(const Counter& counter, std::uint64_t at = 1) {
    const std::int64_t begin = monotonic_ns();
    const std::int64_t last = begin + 20'000'000'000;
    while (counter.ok + counter.failed < at && monotonic_ns() < last) turn();
    EXPECT_EQ(counter.ok, at);
    return nanoseconds(monotonic_ns() - begin);
  }
  // A put of everything, and the fence behind it.
  Ps put(SegId segment = kSegment, std::uint32_t flags = kNoFlags) {
    Counter fenced;
    const PutPiece piece{0, here_.data(), here_.size()};
    EXPECT_EQ(port(0).put({1}, segment, {&piece, 1}, nullptr, kNoCounter, flags), Post::pending);
    EXPECT_EQ(port(0).fence({1}, &fenced), Post::pending);
    return finish(fenced);
  }
  bool is_there() const { return std::memcmp(there_, here_.data(), kBytes) == 0; }
  void get(std::uint32_t flags = kNoFlags) {
    std::vector<std::byte> got(kBytes);
    Counter done;
    EXPECT_EQ(port(0).get({1, kSegment, 0}, got.data(), got.size(), &done, flags), Post::pending);
    finish(done);
    EXPECT_EQ(std::memcmp(got.data(), there_, kBytes), 0);
  }
  std::size_t sent_bytes(std::size_t end, std::size_t rail) {
    return std::exchange(wires_[end][rail]->bytes, 0);
  }
  // Whether each rail brought a `least`-th of a copy at least. A few times: a test that loses its
  // processor for long takes a rail for silent.
  template <class Copy>
  bool both_carry(std::size_t end, std::size_t least, Copy&& copy) {
    for (int i = 0; i < 10; ++i) {
      for (std::size_t rail = 0; rail < 2; ++rail) (void)sent_bytes(end, rail);
      copy();
      const std::size_t first = sent_bytes(end, 0), second = sent_bytes(end, 1);
      if (first > kBytes / least && second > kBytes / least) return true;
    }
    return false;
  }

  static constexpr Peer kNodes = 4;
  const NodeMap nodes_ = NodeMap::even(kNodes, 1);
  std::unique_ptr<fabric::ShmJob> jobs_[2];
  std::unique_ptr<NiEngine> engines_[2];
  std::unique_ptr<RankEndpoint> ranks_[2];
  std::vector<std::byte> here_ = pattern(kBytes, 1);
  std::byte* there_ = nullptr;
  std::string fatal_;
};

TEST_F(EngineRailsTest, PutsAndGetsTravelByBothRails) {
  EXPECT_TRUE(both_carry(0, 4, [this] {
    put();
    EXPECT_TRUE(is_there());
  }));
  EXPECT_TRUE(both_carry(1, 8, [this] { get(); }));
  EXPECT_EQ(fatal_, "");
}

TEST_F(EngineRailsTest, LossesAreMendedOnEachRail) {
  for (const auto& end : wires_) {
    end[0]->lose_every = 23;
    end[1]->lose_every = 19;
  }
  for (int i = 0; i < 3; ++i) {
    here_ = pattern(kBytes, 10 + i);
    put();
    EXPECT_TRUE(is_there());
  }
  get();
  EXPECT_EQ(fatal_, "");
}

// More than the asking side can put in order, if it asked for them.
TEST_F(EngineRailsTest, AGetGoesOnlySoFarAheadOfWhatOneRailBringsLate) {
  wires_[1][1]->holds = true;
  get();
  EXPECT_FALSE(wires_[1][1]->held.empty());
  EXPECT_EQ(fatal_, "");
}

TEST_F(EngineRailsTest, WhatIsAcknowledgedEarlyIsThereWhenItsRailFallsSilent) {
  Wire& wire = *wires_[0][1];
  wire.holds = true;
  Counter fenced;
  const PutPiece piece{0, here_.data(), here_.size()};
  (void)port(0).put({1}, kSegment, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
  (void)port(0).fence({1}, &fenced);
  while (wire.held.size() < 4) turn();
  // The first packet is lost, those behind it come and are acknowledged.
  wire.held.pop_front();
  for (Wire::Packet& one : wire.held) wires_[1][1]->queue.push_back(std::move(one));
  wire.holds = false;
  const int acks_before = sent_by(1, 1);
  while (sent_by(1, 1) == acks_before) (void)engines_[1]->turn();
  down_[1] = true;
  finish(fenced);
  EXPECT_TRUE(is_there());
  EXPECT_EQ(fatal_, "");
}

// Puts and gets of all sizes, some of which name a rail, while packets get lost, and one rail or
// the other goes and comes back: what a fence or a get has told of is there.
TEST_F(EngineRailsTest, NoLossAndNoOutageShowsInMemory) {
  Prng random(28);
  std::vector<std::byte> expected(kBytes);
  std::memset(there_, 0, kBytes);
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    if (random.below(8) == 0) {
      for (const auto& end : wires_) {
        for (Wire* const wire : end) wire->lose_every = static_cast<int>(random.below(40)) + 7;
      }
    }
    if (random.below(16) == 0) {
      const std::size_t rail = random.below(2);
      down_[rail] = !down_[rail] && !down_[1 - rail];
    }
    // Puts that touch no byte of each other, and the fence behind them.
    std::size_t at = random.below(kBytes / 2);
    Counter fenced;
    const std::uint64_t puts = 1 + random.below(4);
    for (std::uint64_t i = 0; i < puts; ++i) {
      const std::size_t size = 1 + random.below(random.below(3) == 0 ? kBytes / 8 : 2000);
      const std::vector<std::byte> data = pattern(size, random.next());
      const std::uint64_t named = random.below(4);
      const std::uint32_t flags = named < 2 ? on_rail(static_cast<std::uint32_t>(named)) : 0;
      const PutPiece piece{at, data.data(), size};
      EXPECT_EQ(port(0).put({1}, kSegment, {&piece, 1}, nullptr, kNoCounter, flags), Post::pending);
      std::memcpy(expected.data() + at, data.data(), size);
      at += size;
    }
    EXPECT_EQ(port(0).fence({1}, &fenced), Post::pending);
    finish(fenced);
    ASSERT_EQ(std::memcmp(there_, expected.data(), kBytes), 0) << "round " << round;
    if (random.below(3) > 0) continue;
    const std::size_t from = random.below(kBytes / 2);
    std::vector<std::byte> got(1 + random.below(kBytes / 2));
    Counter done;
    EXPECT_EQ(port(0).get({1, kSegment, from}, got.data(), got.size(), &done, kNoFlags),
              Post::pending);
    finish(done);
    ASSERT_EQ(std::memcmp(got.data(), expected.data() + from, got.size()), 0) << "round " << round;
  }
  EXPECT_EQ(fatal_, "");
}

TEST_F(EngineRailsTest, WhatNamesARailGoesByIt) {
  for (const std::size_t rail : {0u, 1u}) {
    const std::uint32_t flags = on_rail(static_cast<std::uint32_t>(rail));
    // Whether its end sent less than a tenth by the other one. A few times, as in both_carry().
    const auto keeps_to_it = [&](std::size_t end, auto&& copy) {
      for (int i = 0; i < 10; ++i) {
        for (std::size_t each = 0; each < 2; ++each) (void)sent_bytes(end, each);
        copy();
        if (sent_bytes(end, rail) >= kBytes && sent_bytes(end, 1 - rail) < kBytes / 10) return true;
      }
      return false;
    };
    EXPECT_TRUE(keeps_to_it(0, [&] {
      here_ = pattern(kBytes, 60 + static_cast<int>(rail));
      put(kSegment, flags);
      EXPECT_TRUE(is_there());
    })) << rail;
    EXPECT_TRUE(keeps_to_it(1, [&] { get(flags); })) << rail;
  }
  // Expect: no such rail; one that is lost keeps nothing back
  const PutPiece piece{0, here_.data(), 8};
  EXPECT_EQ(port(0).put({1}, kSegment, {&piece, 1}, nullptr, kNoCounter, on_rail(2)),
            Post::no_rail);
  down_[1] = true;
  here_ = pattern(kBytes, 70);
  put(kSegment, on_rail(1));
  EXPECT_TRUE(is_there());
  get(on_rail(1));
  EXPECT_EQ(fatal_, "");
}

TEST_F(EngineRailsTest, ASlowRailHasASmallerShare) {
  // The second rail brings a packet for every four of the first.
  wires_[1][0]->most_a_look = 4;
  wires_[1][1]->most_a_look = 1;
  bool smaller = false;
  for (int i = 0; i < 10 && !smaller; ++i) {
    for (std::size_t rail = 0; rail < 2; ++rail) (void)sent_bytes(0, rail);
    here_ = pattern(kBytes, 20 + i);
    put();
    EXPECT_TRUE(is_there());
    const std::size_t first = sent_bytes(0, 0), second = sent_bytes(0, 1);
    smaller = second > kBytes / 16 && second * 2 < first;
  }
  EXPECT_TRUE(smaller);
}

TEST_F(EngineRailsTest, ASilentRailHasItsPacketsTakenOverAndComesBack) {
  for (const std::size_t rail : {1u, 0u}) {
    // It falls silent in the middle of a put.
    Counter fenced;
    const PutPiece piece{0, here_.data(), here_.size()};
    (void)port(0).put({1}, kSegment, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
    (void)port(0).fence({1}, &fenced);
    for (int i = 0; i < 40; ++i) turn();
    down_[rail] = true;
    EXPECT_LT(finish(fenced), seconds(5));
    EXPECT_TRUE(is_there());
    // Expect: nothing waits for it any more
    here_ = pattern(kBytes, 30 + static_cast<int>(rail));
    EXPECT_LT(put(), seconds(5));
    EXPECT_TRUE(is_there());
    down_[rail] = false;
    const std::int64_t back = monotonic_ns();
    std::size_t by_it = 0;
    while (by_it < kBytes / 4 && monotonic_ns() - back < 10'000'000'000) {
      (void)sent_bytes(0, rail);
      here_ = pattern(kBytes, 40 + static_cast<int>(rail));
      put();
      EXPECT_TRUE(is_there());
      by_it = sent_bytes(0, rail);
    }
    EXPECT_GE(by_it, kBytes / 4) << "rail " << rail;
  }
  EXPECT_EQ(fatal_, "");
}

TEST_F(EngineRailsTest, WhatASilentRailBringsLateIsWrittenNowhere) {
  Wire& wire = *wires_[0][1];
  wire.holds = true;
  put();
  EXPECT_TRUE(is_there());
  ASSERT_FALSE(wire.held.empty());
  // The memory is written anew, and the rail wakes.
  const std::vector<std::byte> newer = pattern(kBytes, 9);
  std::memcpy(there_, newer.data(), kBytes);
  wire.holds = false;
  for (Wire::Packet& one : wire.held) wires_[1][1]->queue.push_back(std::move(one));
  for (int i = 0; i < 2000; ++i) turn();
  EXPECT_EQ(std::memcmp(there_, newer.data(), kBytes), 0);
  here_ = pattern(kBytes, 10);
  put();
  EXPECT_TRUE(is_there());
}

// A remote counter, a put and an atomic that are flagged kAfter, a packet that is: each finds the
// put before it whole, although the second rail brings its part later.
TEST_F(EngineRailsTest, WhatFollowsAPutFindsAllOfIt) {
  wires_[1][1]->most_a_look = 1;
  Counter bumped;
  port(1).expose_counter(kCounter, &bumped);
  int came = 0;
  port(1).bind(4,
               {[](void* count, Packet*, const Arrival&) {
                  ++*static_cast<int*>(count);
                  return Keep::no;
                },
                &came},
               {});
  for (int i = 0; i < 4; ++i) {
    here_ = pattern(kBytes, 50 + i);
    const PutPiece all{0, here_.data(), kBytes - 8};
    (void)port(0).put({1}, kSegment, {&all, 1}, nullptr, i == 0 ? kCounter : kNoCounter, kNoFlags);
    const std::uint64_t mark = 1000 + static_cast<std::uint64_t>(i);
    Counter done;
    std::uint64_t* const last = reinterpret_cast<std::uint64_t*>(there_ + kBytes - 8);
    const auto whole = [&] { return std::memcmp(there_, here_.data(), kBytes - 8) == 0; };
    if (i == 0) {
      finish(bumped);
    } else if (i == 1) {
      const PutPiece word{kBytes - 8, &mark, 8};
      (void)port(0).put({1}, kSegment, {&word, 1}, nullptr, kNoCounter, kAfter);
      while (std::atomic_ref(*last).load() != mark) turn();
    } else if (i == 2) {
      std::uint64_t old = 0;
      (void)port(0).atomic({1, kSegment, kBytes - 8}, Atomic::swap, mark, 0, &old, &done, kAfter);
      while (std::atomic_ref(*last).load() != mark) turn();
      finish(done);
    } else {
      Post sent;
      while ((sent = port(0).send_small({1}, 4, Lane::request, Words{}, {}, kAfter | kNoBlock)) ==
             Post::again_credit) {
        turn();
      }
      EXPECT_EQ(sent, Post::done);
      while (came == 0) turn();
    }
    EXPECT_TRUE(whole()) << i;
  }
}

// Memory of the rank's process, which its engine cannot reach.
TEST_F(EngineRailsTest, PutsIntoTheRanksOwnMemoryTravelByBothRails) {
  std::vector<std::byte> memory(kBytes);
  ASSERT_EQ(port(1).expose(kPrivate, memory.data(), memory.size(), kRead | kWrite, nullptr, {}),
            Post::done);
  EXPECT_TRUE(both_carry(0, 4, [&] {
    put(kPrivate);
    EXPECT_TRUE(memory == here_);
  }));
}

// Parts of a client's message that say themselves where they belong: each comes once, and those
// behind the first few by either rail.
TEST_F(EngineRailsTest, PacketsInAnyOrderTravelByBothRailsAndComeOnce) {
  struct Taken {
    std::byte* to;
    std::size_t bytes = 0;
    bool in_order = true;
  } taken{there_};
  port(1).bind(4,
               {[](void* context, Packet*, const Arrival& arrival) {
                  auto& into = *static_cast<Taken*>(context);
                  into.in_order &= arrival.words[0] == into.bytes;
                  std::memcpy(into.to + arrival.words[0], arrival.data.data(), arrival.data.size());
                  into.bytes += arrival.data.size();
                  return Keep::no;
                },
                &taken},
               {});
  const auto send_all = [&](std::uint32_t flags) {
    taken.bytes = 0;
    std::memset(there_, 0, kBytes);
    const std::size_t part = port(0).caps(1).mtu_bytes;
    for (std::size_t at = 0; at < kBytes; at += part) {
      const Piece piece{here_.data() + at, std::min(part, kBytes - at)};
      const Words words = {static_cast<std::uint32_t>(at)};
      Packet* packet = nullptr;
      while ((packet = port(0).alloc({1}, Lane::request, piece.size, kNoBlock)) == nullptr) turn();
      EXPECT_EQ(port(0).send(packet, 4, words, 0, {&piece, 1}, nullptr, flags | kNoBlock),
                Post::done);
    }
    const std::int64_t last = monotonic_ns() + 20'000'000'000;
    while (taken.bytes < kBytes && monotonic_ns() < last) turn();
    for (int i = 0; i < 200; ++i) turn();
    EXPECT_EQ(taken.bytes, kBytes);
    EXPECT_TRUE(is_there());
  };
  EXPECT_TRUE(both_carry(0, 4, [&] { send_all(kAnyOrder); }));
  for (const auto& end : wires_) {
    end[0]->lose_every = 23;
    end[1]->lose_every = 19;
  }
  send_all(kAnyOrder);
  // Without the flag a pair's packets keep their order, and with it one rail.
  for (std::size_t rail = 0; rail < 2; ++rail) (void)sent_bytes(0, rail);
  taken.in_order = true;
  send_all(kNoFlags);
  EXPECT_TRUE(taken.in_order);
  EXPECT_LT(sent_bytes(0, 1), kBytes / 16);
  EXPECT_EQ(fatal_, "");
}

// --- The books, by hand

TEST(CopyStripes, ANumberComesOnce) {
  CopyStripes stripes(3, 2);
  // Expect: in any order, each once
  EXPECT_TRUE(stripes.came(1, 1));
  EXPECT_TRUE(stripes.came(1, 0));
  EXPECT_FALSE(stripes.came(1, 1));
  EXPECT_FALSE(stripes.came(1, 0));
  // Expect: another node's numbers are its own
  EXPECT_TRUE(stripes.came(2, 0));
  // Expect: none that no sender can have sent by now
  EXPECT_FALSE(stripes.came(1, 2 + CopyStripes::kAhead));
  EXPECT_TRUE(stripes.came(1, 1 + CopyStripes::kAhead));
  EXPECT_FALSE(stripes.came(1, CopyStripes::kNoNumber));
}

TEST(CopyStripes, WhatFollowsWaitsForAllBefore) {
  CopyStripes stripes(2, 2);
  EXPECT_FALSE(stripes.busy(1));
  EXPECT_EQ(stripes.add(1, 100), 0u);
  EXPECT_EQ(stripes.add(1, 101), 1u);
  stripes.hold(1, 200);
  EXPECT_EQ(stripes.add(1, 102), 2u);
  stripes.hold(1, 201);
  EXPECT_EQ(stripes.take_piece(1), 100u);
  EXPECT_EQ(stripes.take_piece(1), 101u);
  EXPECT_EQ(stripes.take_piece(1), 102u);
  EXPECT_FALSE(stripes.has_piece(1));
  stripes.acknowledged(1, 1);
  stripes.acknowledged(1, 2);
  EXPECT_FALSE(stripes.has_ready(1));
  // Expect: one that is taken over leaves again, before new ones
  stripes.take_over(1, 100, 0);
  EXPECT_EQ(stripes.add(1, 103), 3u);
  EXPECT_EQ(stripes.take_piece(1), 100u);
  stripes.acknowledged(1, 0);
  // Expect: both, in their order
  ASSERT_TRUE(stripes.has_ready(1));
  EXPECT_EQ(stripes.take_ready(1), 200u);
  ASSERT_TRUE(stripes.has_ready(1));
  EXPECT_EQ(stripes.take_ready(1), 201u);
  EXPECT_FALSE(stripes.has_ready(1));
  EXPECT_TRUE(stripes.busy(1));
}

TEST(CopyStripes, NoneLeavesTooFarAheadOfOneThatIsMissing) {
  CopyStripes stripes(2, 2);
  for (std::uint32_t i = 0; i <= CopyStripes::kAhead; ++i) (void)stripes.add(1, i);
  for (std::uint32_t i = 0; i < CopyStripes::kAhead; ++i) {
    ASSERT_TRUE(stripes.has_piece(1));
    EXPECT_EQ(stripes.take_piece(1), i);
  }
  EXPECT_FALSE(stripes.has_piece(1));
  stripes.acknowledged(1, 5);
  EXPECT_FALSE(stripes.has_piece(1));
  stripes.acknowledged(1, 0);
  EXPECT_TRUE(stripes.has_piece(1));
}

TEST(CopyStripes, WhatNamesARailWaitsForItsFlow) {
  CopyStripes stripes(2, 2);
  constexpr Peer kOwn = 1;
  constexpr Peer kStripe = 3;
  stripes.begins(kStripe, Ps{});
  (void)stripes.add(1, 100, kStripe);
  (void)stripes.add(1, 101, kStripe);
  (void)stripes.add(1, 102, kOwn);
  EXPECT_EQ(stripes.take_piece(kOwn), 102u);
  EXPECT_FALSE(stripes.has_piece(kOwn));
  EXPECT_EQ(stripes.take_piece(kStripe), 100u);
  // Expect: a silent rail keeps nothing back
  ASSERT_TRUE(stripes.gives_up(kStripe, CopyStripes::kSilentAlone));
  EXPECT_FALSE(stripes.has_piece(kStripe));
  EXPECT_EQ(stripes.take_piece(kOwn), 101u);
  EXPECT_FALSE(stripes.has_piece(kOwn));
}

TEST(CopyStripes, AStripeIsSilentWhenOthersAreNot) {
  CopyStripes stripes(2, 2);
  (void)stripes.add(1, 0);
  constexpr Peer kOwn = 1;     // node 1 by the pair's flow
  constexpr Peer kStripe = 3;  // node 1 by the second rail
  stripes.begins(kStripe, Ps{});
  EXPECT_FALSE(stripes.gives_up(kStripe, CopyStripes::kSilent));
  EXPECT_FALSE(stripes.heard(kOwn, milliseconds(1)));
  EXPECT_TRUE(stripes.gives_up(kStripe, CopyStripes::kSilent));
  EXPECT_TRUE(stripes.is_silent(kStripe));
  // Expect: once, and until something comes by it
  EXPECT_FALSE(stripes.gives_up(kStripe, CopyStripes::kSilent * 2));
  EXPECT_TRUE(stripes.heard(kStripe, CopyStripes::kSilent * 3));
  EXPECT_FALSE(stripes.is_silent(kStripe));
  // Expect: a node of which nothing comes at all has more time
  EXPECT_FALSE(stripes.gives_up(kStripe, CopyStripes::kSilent * 5));
  EXPECT_TRUE(stripes.gives_up(kStripe, CopyStripes::kSilent * 3 + CopyStripes::kSilentAlone));
}

}  // namespace
}  // namespace fairlead::lci
