// A port in virtual time: a clock that only its fabric's sleep and its own work move.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/lci/direct/fake_nic.h"

namespace fairlead::lci {
namespace {

constexpr Ps kPoll = nanoseconds(50);
constexpr Ps kPerOp = nanoseconds(1);

struct Clock final : VirtualSite {
  Ps now() const override { return at; }
  void charge(const Work& work) override { at += kPerOp * static_cast<std::int64_t>(work.ops); }
  void waits_for(const char* text) override { what = text; }
  Ps at = microseconds(3);
  std::string what;
};

class SleepyNic final : public PacketsOnlyNic {
 public:
  explicit SleepyNic(Clock& clock) : PacketsOnlyNic(0, 2, 2048), clock_(clock) {}
  Post post(Peer, const fabric::PacketHeader&, std::span<const Piece>) override {
    return ++posts < 3 ? Post::again_credit : Post::done;
  }
  int reap(int, fabric::LaneMask) override {
    clock_.at += kPoll;
    return 0;
  }
  void sleep(Ps timeout) override {
    lengths.push_back(timeout);
    if (timeout != kNever) clock_.at += timeout;
    if (word != nullptr) word->store(1);
  }

  std::vector<Ps> lengths;
  std::atomic<std::uint64_t>* word = nullptr;  // what a peer writes meanwhile
  int posts = 0;

 private:
  Clock& clock_;
};

class VirtualSiteTest : public ::testing::Test {
 protected:
  VirtualSiteTest() : nic_(clock_) {
    DirectOptions options;
    options.site = &clock_;
    options.wait = wait_plan_virtual();
    port_ = make_direct_port(nic_, options);
  }
  Clock clock_;
  SleepyNic nic_;
  std::unique_ptr<Port> port_;
};

TEST_F(VirtualSiteTest, TimeIsTheSitesAndWorkTakesIt) {
  // Expect: the site's clock, which work moves, and a port that says so.
  EXPECT_EQ(port_->now(), microseconds(3));
  port_->charge({.ops = 500});
  EXPECT_EQ(port_->now(), microseconds(3) + nanoseconds(500));
  EXPECT_EQ(port_->caps(1).flags & kFreeWork, 0u);
}

TEST_F(VirtualSiteTest, AWaitSleepsOnceUntilItsDeadline) {
  const Ps deadline = milliseconds(700);
  // Expect: one sleep, of what is left after one look, however long; then one more look.
  EXPECT_EQ(port_->wait({.deadline = deadline}), Post::again_credit);
  ASSERT_EQ(nic_.lengths.size(), 1u);
  EXPECT_EQ(nic_.lengths[0], deadline - microseconds(3) - kPoll);
  EXPECT_EQ(port_->now(), deadline + kPoll);
}

TEST_F(VirtualSiteTest, AWordIsTheFabricsToTell) {
  std::atomic<std::uint64_t> word{0};
  nic_.word = &word;
  // Expect: no nap from which it looks again: one sleep without end.
  EXPECT_EQ(port_->wait({.word = &word, .cmp = Cmp::eq, .value = 1}), Post::done);
  EXPECT_EQ(nic_.lengths, std::vector<Ps>{kNever});
}

TEST_F(VirtualSiteTest, RoomToSendIsTheFabricsToTell) {
  // Expect: as long a sleep for each time that there was none.
  EXPECT_EQ(port_->send_small({1}, 7, Lane::request, {}, {}, kNoFlags), Post::done);
  EXPECT_EQ(nic_.lengths, (std::vector<Ps>{kNever, kNever}));
}

TEST_F(VirtualSiteTest, WhatALookItselfEndsIsNotSleptOn) {
  std::uint64_t data = 7;
  const PutPiece piece{0, &data, sizeof data};
  Counter done;
  EXPECT_EQ(port_->put({1}, 5, {&piece, 1}, &done, kNoCounter, kNoFlags), Post::pending);
  // Expect: two sleeps for want of room, and none after the look in which the packet left, as
  // nothing would end it.
  EXPECT_EQ(port_->wait({.counter = &done, .at = 1}), Post::done);
  EXPECT_EQ(nic_.lengths, (std::vector<Ps>{kNever, kNever}));
}

TEST_F(VirtualSiteTest, ATimerEndsTheSleep) {
  Ps ran{};
  struct Both {
    Port* port;
    Ps* ran;
  } both{port_.get(), &ran};
  port_->after(microseconds(40), {[](void* self) {
                                    auto* b = static_cast<Both*>(self);
                                    *b->ran = b->port->now();
                                  },
                                  &both});
  EXPECT_EQ(port_->wait({.deadline = microseconds(100)}), Post::again_credit);
  // Expect: at its time, not when the wait ends.
  EXPECT_EQ(ran, microseconds(43));
}

}  // namespace
}  // namespace fairlead::lci
