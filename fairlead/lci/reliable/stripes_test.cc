// Copies by two rails at once: both carry pieces, one that dies has its pieces taken over, and what
// it brings late is written nowhere.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/base/test_pattern.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/paths/rails_fixture.h"
#include "fairlead/lci/reliable/flow_names.h"
#include "fairlead/lci/reliable/piece_book.h"
#include "fairlead/lci/reliable/reliable_nic.h"

namespace fairlead::lci {
namespace {

using fabric::RemoteCopy;
using rails_fixture::test_ns;
using rails_fixture::Wire;

constexpr std::size_t kBytes = 1 << 20;

// Rank 0 copies to and from rank 1.
class StripesTest : public rails_fixture::RailsNicTest {
 protected:
  StripesTest() {
    for (std::size_t end = 0; end < 2; ++end) {
      ReliableOptions options;
      options.epoch = nanoseconds(monotonic_ns());
      tops_[end] = make_reliable_nic(*nics_[end], options);
      fabric::Sink sink{[](void*, const fabric::Incoming&) { return Keep::no; }, nullptr, this};
      sink.copied = [](void* self, std::uint64_t token, Post result) {
        static_cast<StripesTest*>(self)->ended_.emplace_back(token, result);
      };
      tops_[end]->attach(sink);
    }
    key_ = tops_[1]->register_memory(there_, true, true).value();
  }
  void begin(RemoteCopy::What what, std::uint8_t rail = 0) {
    ended_.clear();
    test_ns = monotonic_ns();
    ASSERT_EQ(tops_[0]->copy_remote({what, 1, key_, 0, here_.data(), here_.size(), 7, rail}),
              Post::done);
  }
  void turn() {
    test_ns = monotonic_ns();
    for (const auto& top : tops_) top->reap(256, fabric::kAllLanes);
  }
  // Until the copy has ended; how long that took.
  Ps finish() {
    const std::int64_t begin = monotonic_ns();
    const std::int64_t last = begin + 20'000'000'000;
    while (ended_.empty() && monotonic_ns() < last) turn();
    EXPECT_EQ(ended_, (std::vector<std::pair<std::uint64_t, Post>>{{7, Post::done}}));
    const Ps took = nanoseconds(monotonic_ns() - begin);
    // Who waits for an acknowledgment while the test makes its next pattern takes the rail for
    // dead.
    const std::int64_t settling = monotonic_ns() + 50'000'000;
    while (!(tops_[0]->settled() && tops_[1]->settled()) && monotonic_ns() < settling) turn();
    return took;
  }
  void write() {
    begin(RemoteCopy::What::write);
    finish();
    EXPECT_TRUE(there_ == here_);
  }
  // In its place: it is registered.
  void fill_there(int seed) {
    const std::vector<std::byte> made = pattern(kBytes, seed);
    std::copy(made.begin(), made.end(), there_.begin());
  }
  // Whether each rail brought a quarter of a copy's bytes at least. A few times: a test that loses
  // its processor for 20 ms takes a rail for dead.
  template <class Copy>
  bool both_carry(std::size_t end, Copy&& copy) {
    for (int i = 0; i < 10; ++i) {
      for (std::size_t rail = 0; rail < 2; ++rail) (void)sent_bytes(end, rail);
      copy();
      const std::size_t first = sent_bytes(end, 0), second = sent_bytes(end, 1);
      if (first > kBytes / 4 && second > kBytes / 4) return true;
    }
    return false;
  }
  // Bytes that a rank sent by a rail since the last call.
  std::size_t sent_bytes(std::size_t end, std::size_t rail) {
    return std::exchange(wires_[end][rail]->bytes, 0);
  }

  void name_a_dead_rail(std::uint8_t rail) {
    down_[rail] = true;
    for (const RemoteCopy::What what : {RemoteCopy::What::write, RemoteCopy::What::read}) {
      // The second one finds the rail known to be dead.
      for (int i = 0; i < 2; ++i) {
        here_ = pattern(kBytes, 20 + i);
        begin(what, static_cast<std::uint8_t>(rail + 1));
        EXPECT_LT(finish(), seconds(2)) << i;
        EXPECT_TRUE(there_ == here_);
      }
    }
  }

  std::vector<std::byte> here_ = pattern(kBytes, 1);
  std::vector<std::byte> there_ = pattern(kBytes, 2);
  std::unique_ptr<ReliableNic> tops_[2];
  fabric::RemoteKey key_;
  std::vector<std::pair<std::uint64_t, Post>> ended_;
};

TEST_F(StripesTest, PiecesTravelByBothRails) {
  EXPECT_TRUE(both_carry(0, [this] { write(); }));
  fill_there(3);
  EXPECT_TRUE(both_carry(1, [this] {
    begin(RemoteCopy::What::read);
    finish();
    EXPECT_TRUE(here_ == there_);
  }));
}

TEST_F(StripesTest, ACopyKeepsToTheRailThatItNames) {
  // A few times, as above.
  for (const RemoteCopy::What what : {RemoteCopy::What::write, RemoteCopy::What::read}) {
    const std::size_t sender = what == RemoteCopy::What::write ? 0 : 1;
    for (std::uint8_t rail = 0; rail < 2; ++rail) {
      bool kept = false;
      for (int i = 0; i < 10 && !kept; ++i) {
        for (std::size_t each = 0; each < 2; ++each) (void)sent_bytes(sender, each);
        fill_there(10 + i);
        begin(what, static_cast<std::uint8_t>(rail + 1));
        finish();
        EXPECT_TRUE(here_ == there_);
        kept = sent_bytes(sender, rail) > kBytes && sent_bytes(sender, 1 - rail) < kBytes / 8;
      }
      EXPECT_TRUE(kept) << "rail " << int{rail};
    }
  }
}

TEST_F(StripesTest, LossesAreMendedOnEachRail) {
  for (const auto& end : wires_) {
    end[0]->lose_every = 23;
    end[1]->lose_every = 19;
  }
  write();
  here_ = pattern(kBytes, 4);
  write();
  begin(RemoteCopy::What::read);
  finish();
  EXPECT_TRUE(here_ == there_);
}

TEST_F(StripesTest, ADeadRailHasItsPiecesTakenOverAndComesBack) {
  for (const std::size_t rail : {1u, 0u}) {
    begin(RemoteCopy::What::write);
    for (int i = 0; i < 3; ++i) turn();
    down_[rail] = true;
    EXPECT_LT(finish(), seconds(2));
    EXPECT_TRUE(there_ == here_);
    // Expect: the other one carries all, and nothing waits for the dead one
    here_ = pattern(kBytes, 5 + rail);
    begin(RemoteCopy::What::write);
    EXPECT_LT(finish(), seconds(2));
    EXPECT_TRUE(there_ == here_);
    down_[rail] = false;
    const std::int64_t back = monotonic_ns();
    std::size_t by_it = 0;
    while (by_it < kBytes / 4 && monotonic_ns() - back < 5'000'000'000) {
      (void)sent_bytes(0, rail);
      here_ = pattern(kBytes, 7 + rail);
      write();
      by_it = sent_bytes(0, rail);
    }
    EXPECT_GE(by_it, kBytes / 4);
    EXPECT_LT(monotonic_ns() - back, 2'000'000'000) << "rail " << rail;
  }
}

TEST_F(StripesTest, ACopyThatNamesADeadRailGoesByTheOther) { name_a_dead_rail(1); }

TEST_F(StripesTest, ACopyThatNamesTheDeadRailOfAllPacketsGoesByTheOther) { name_a_dead_rail(0); }

TEST_F(StripesTest, WhatASilentRailBringsLateIsWrittenNowhere) {
  Wire& wire = *wires_[0][1];
  wire.holds = true;
  begin(RemoteCopy::What::write);
  finish();
  EXPECT_TRUE(there_ == here_);
  ASSERT_FALSE(wire.held.empty());
  // The owner has its memory back, and the rail wakes.
  fill_there(9);
  wire.holds = false;
  for (Wire::Packet& one : wire.held) wires_[1][1]->queue.push_back(std::move(one));
  for (int i = 0; i < 2000; ++i) turn();
  EXPECT_TRUE(there_ == pattern(kBytes, 9));
  here_ = pattern(kBytes, 10);
  write();
}

TEST_F(StripesTest, AWriteThatIsRefusedEnds) {
  key_.key ^= 1;
  begin(RemoteCopy::What::write);
  const std::int64_t last = monotonic_ns() + 5'000'000'000;
  while (ended_.empty() && monotonic_ns() < last) turn();
  EXPECT_EQ(ended_, (std::vector<std::pair<std::uint64_t, Post>>{{7, Post::denied}}));
  EXPECT_TRUE(there_ == pattern(kBytes, 2));
}

TEST(FlowNames, EveryFlowHasOneNameAndOneNumber) {
  const FlowNames names(5, 3);
  EXPECT_EQ(names.count(), 5u * (fabric::kLanes + 2));
  std::vector<int> seen(names.count());
  for (Peer peer = 0; peer < 5; ++peer) {
    for (std::uint32_t lane = 0; lane < names.lanes(); ++lane) {
      const Flow flow = names.of(peer, lane);
      ++seen.at(flow);
      EXPECT_EQ(names.peer_of(flow), peer);
      EXPECT_EQ(names.lane_of(flow), lane);
      EXPECT_EQ(names.is_copy(flow), lane >= kCopyLane);
      EXPECT_EQ(names.acked_by(flow, 0), flow);
      for (std::uint32_t i = 1; i < fabric::kLanes; ++i) {
        EXPECT_EQ(names.peer_of(names.acked_by(flow, i)), peer);
        EXPECT_FALSE(names.is_stripe(names.acked_by(flow, i)));
        EXPECT_NE(names.acked_by(flow, i), flow);
      }
    }
  }
  for (const int times : seen) EXPECT_EQ(times, 1);
}

TEST(PieceBook, CountsEachPieceOnce) {
  PieceBook book(130);
  for (std::uint32_t i = 0; i < 129; ++i) {
    EXPECT_FALSE(book.has(i));
    book.mark(i);
    book.mark(i);
  }
  EXPECT_FALSE(book.complete());
  book.mark(129);
  EXPECT_TRUE(book.complete());
}

}  // namespace
}  // namespace fairlead::lci
