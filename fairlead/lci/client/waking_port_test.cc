// A port, its rank's thread, a helper and a peer that is a thread of its own: who takes turns with
// whom. What the rank shares with its upcalls is plain memory, for ThreadSanitizer to watch.
#include "fairlead/lci/client/waking_port.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <memory>
#include <thread>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/lci/endpoint/real_endpoint.h"

namespace fairlead::lci {
namespace {

constexpr Chan kAsk = 3;
constexpr Chan kAnswer = 4;

class WakingPortTest : public ::testing::Test {
 protected:
  WakingPortTest() {
    for (Rank rank = 0; rank < 2; ++rank) {
      RealEndpointOptions options;
      options.direct.wait = wait_plan_oversubscribed();
      options.wake.begin = [](void* begun) { ++*static_cast<std::atomic<int>*>(begun); };
      options.wake.context = &begun_;
      ranks_[rank] = std::make_unique<RealEndpoint>(
          std::move(fabric::attach_shm(job_->fd(), rank, {.nonce = job_->nonce()}).value()),
          std::move(options));
    }
    port(1).bind(kAsk, {&WakingPortTest::on_ask, this}, {});
    port(0).bind(kAnswer, {&WakingPortTest::on_answer, this}, {});
  }
  ~WakingPortTest() override {
    if (peer_.joinable()) peer_.join();
  }

  Port& port(Rank rank) { return ranks_[rank]->port(); }

  // Rank 0 asks so often, one question after the answer to the last; nobody asks later than that.
  void peer_asks(std::uint64_t times) {
    peer_ = std::thread([this, times] {
      for (std::uint64_t i = 1; i <= times; ++i) {
        (void)port(0).send_small({1}, kAsk, Lane::request, Words{}, {}, kNoFlags);
        while (answers_ < i) (void)port(0).wait({.any_packet = true});
      }
      over_ = true;
    });
  }
  static Keep on_ask(void* self, Packet*, const Arrival&) {
    auto& me = *static_cast<WakingPortTest*>(self);
    ++me.asked_;
    const Words words{};
    (void)me.port(1).send_small({0}, kAnswer, Lane::reply, words, {}, kNoFlags);
    return Keep::no;
  }
  static Keep on_answer(void* self, Packet*, const Arrival&) {
    ++static_cast<WakingPortTest*>(self)->answers_;
    return Keep::no;
  }
  static void compute() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

  std::unique_ptr<fabric::ShmJob> job_ =
      std::move(fabric::ShmJob::create({2, std::size_t{1} << 20, 0}).value());
  std::atomic<int> begun_{0};
  std::unique_ptr<RealEndpoint> ranks_[2];
  std::thread peer_;
  std::atomic<bool> over_{false};
  std::uint64_t asked_ = 0;    // of rank 1, whoever runs its upcalls
  std::uint64_t answers_ = 0;  // of rank 0's thread
};

TEST_F(WakingPortTest, a_rank_that_polls_only_has_no_helper) {
  peer_asks(50);
  while (!over_) (void)port(1).poll();
  EXPECT_FALSE(port(1).wakes());
  EXPECT_EQ(begun_, 0);
  port(1).wake(Wake::poll_only, Ps{0});
  EXPECT_EQ(begun_, 0);
}

TEST_F(WakingPortTest, what_hold_guards_needs_no_other_guard) {
  port(1).wake(Wake::immediate, Ps{0});
  peer_asks(300);
  while (!over_) {
    port(1).hold();
    const std::uint64_t before = asked_;
    compute();
    EXPECT_EQ(asked_, before);
    asked_ = before + 1000;  // the rank's own
    asked_ -= 1000;
    port(1).allow();
    compute();
  }
  port(1).hold();
  EXPECT_EQ(asked_, 300u);
  port(1).allow();
  EXPECT_EQ(begun_, 1);
}

TEST_F(WakingPortTest, what_a_turn_guards_needs_no_other_guard) {
  port(1).wake(Wake::immediate, Ps{0});
  peer_asks(300);
  std::uint64_t polled = 0;
  while (!over_) {
    {
      const PortTurn turn(port(1));
      const std::uint64_t before = asked_;
      compute();
      EXPECT_EQ(asked_, before);
      polled += static_cast<std::uint64_t>(port(1).poll());
      EXPECT_LE(asked_ - before, polled);
    }
    compute();
  }
  const PortTurn turn(port(1));
  EXPECT_EQ(asked_, 300u);
}

TEST_F(WakingPortTest, policies_change_under_load) {
  peer_asks(500);
  for (int round = 0; !over_; ++round) {
    const Wake policy[] = {Wake::immediate, Wake::poll_only, Wake::watchdog};
    port(1).wake(policy[round % 3], microseconds(30));
    if (round % 3 == 1) {
      (void)port(1).poll();
    } else {
      compute();
    }
    if (round % 7 == 0) (void)port(1).wait({.any_packet = true, .deadline = port(1).now()});
  }
  port(1).wake(Wake::poll_only, Ps{0});
  EXPECT_EQ(asked_, 500u);
  EXPECT_LE(begun_, 1);
}

TEST_F(WakingPortTest, a_watchdog_waits_its_time_first) {
  constexpr Ps kTime = milliseconds(1200);  // the kernel counts the seconds apart
  const Ps begin = port(0).now();
  port(1).wake(Wake::watchdog, kTime);
  peer_asks(1);
  while (!over_) compute();
  EXPECT_GE(port(0).now() - begin, kTime);
}

TEST_F(WakingPortTest, a_watchdog_that_was_called_off_serves_nothing) {
  constexpr Ps kTime = milliseconds(50);
  port(1).wake(Wake::watchdog, kTime);
  peer_asks(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  port(1).wake(Wake::poll_only, Ps{0});
  const std::uint64_t before = asked_;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(asked_, before);
  while (!over_) (void)port(1).poll();
  EXPECT_EQ(asked_, 1u);
}

TEST_F(WakingPortTest, what_changes_ends_a_watchdog_s_time) {
  port(1).wake(Wake::watchdog, seconds(60));
  const Ps begin = port(0).now();
  peer_asks(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  port(1).wake(Wake::immediate, Ps{0});
  while (!over_) compute();
  peer_.join();
  port(1).wake(Wake::watchdog, seconds(60));
  over_ = false;
  answers_ = 0;
  peer_asks(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ranks_[1]->stop_helper();
  EXPECT_LT(port(0).now() - begin, seconds(30));
  while (!over_) (void)port(1).poll();
}

TEST_F(WakingPortTest, the_doorbell_is_quiet_while_nothing_comes) {
  pollfd bell{port(1).doorbell(), POLLIN, 0};
  ASSERT_GE(bell.fd, 0);
  EXPECT_TRUE(port(1).wakes());
  peer_asks(20);
  std::uint64_t fruitless = 0;
  while (!over_) {
    if (port(1).poll() > 0) continue;
    ++fruitless;
    (void)::poll(&bell, 1, 5000);
  }
  // Expect: a ring for each question, and for each look at what rings nothing, 20 a second.
  EXPECT_LT(fruitless, 20u * 50u);
  const PortTurn turn(port(1));
  EXPECT_EQ(asked_, 20u);
}

TEST_F(WakingPortTest, the_helper_tells_of_a_lost_peer) {
  std::atomic<int> told{0};
  const auto note = [](void* of, const Event& event) {
    if (event.kind == Event::Kind::peer_down && event.rank == 0) {
      ++*static_cast<std::atomic<int>*>(of);
    }
  };
  port(1).on_event({note, &told});
  port(1).wake(Wake::immediate, Ps{0});
  compute();
  job_->mark_dead(0);
  for (int i = 0; i < 100'000 && told == 0; ++i) compute();
  EXPECT_EQ(told, 1);
  // Expect: the rank's next wait says so, too, once.
  EXPECT_EQ(port(1).wait({.deadline = port(1).now() + seconds(1)}), Post::peer_down);
  EXPECT_EQ(port(1).wait({.deadline = port(1).now()}), Post::again_credit);
}

TEST_F(WakingPortTest, stops_for_good_and_in_a_turn) {
  port(1).wake(Wake::immediate, Ps{0});
  peer_asks(20);
  while (!over_) compute();
  {
    const PortTurn turn(port(1));
    const PortTurn inner(port(1));
    ranks_[1]->stop_helper();
    EXPECT_EQ(asked_, 20u);
  }
  // Expect: the calls of the rank go on, and those of another thread of it.
  std::thread([this] { const PortTurn turn(port(1)); }).join();
  peer_.join();
  over_ = false;
  answers_ = 0;
  peer_asks(5);
  while (!over_) (void)port(1).poll();
  EXPECT_EQ(asked_, 25u);
}

// --- Several threads of a rank.

TEST_F(WakingPortTest, threads_that_share_a_port_take_turns) {
  ASSERT_TRUE(port(1).shareable());
  port(1).share();
  EXPECT_TRUE(port(1).wakes());
  constexpr std::uint64_t kTimes = 2000;
  std::uint64_t shared = 0;  // plain: a turn guards it
  const auto adds = [&] {
    for (std::uint64_t i = 0; i < kTimes; ++i) {
      const PortTurn turn(port(1));
      const std::uint64_t before = shared;
      if (i % 64 == 0) (void)port(1).now();
      shared = before + 1;
    }
  };
  std::thread other(adds);
  adds();
  other.join();
  EXPECT_EQ(shared, 2 * kTimes);
}

TEST_F(WakingPortTest, a_thread_that_waits_lets_another_one_end_its_wait) {
  ASSERT_TRUE(port(1).shareable());
  port(1).share();
  constexpr std::uint64_t kTimes = 200;
  Counter pings;
  Counter pongs;
  std::thread other([&] {
    for (std::uint64_t i = 1; i <= kTimes; ++i) {
      // Nested turns, all of which the wait gives up.
      const PortTurn turn(port(1));
      const PortTurn nested(port(1));
      EXPECT_EQ(port(1).wait({.counter = &pings, .at = i}), Post::done);
      pongs.ok.fetch_add(1);
    }
  });
  for (std::uint64_t i = 1; i <= kTimes; ++i) {
    const PortTurn turn(port(1));
    pings.ok.fetch_add(1);
    EXPECT_EQ(port(1).wait({.counter = &pongs, .at = i}), Post::done);
  }
  other.join();
  EXPECT_EQ(pongs.ok, kTimes);
}

TEST_F(WakingPortTest, what_one_thread_polls_ends_the_waits_of_others) {
  ASSERT_TRUE(port(1).shareable());
  port(1).share();
  peer_asks(300);
  Counter over;
  std::thread other([&] {
    while (over.ok == 0) (void)port(1).wait({.any_packet = true, .also = nullptr});
  });
  std::thread third([&] { EXPECT_EQ(port(1).wait({.counter = &over, .at = 1}), Post::done); });
  while (!over_) (void)port(1).poll();
  over.ok.fetch_add(1);
  EXPECT_EQ(port(1).wait({.counter = &over, .at = 1}), Post::done);
  third.join();
  // A thread that waits for a packet is called by one.
  (void)port(0).send_small({1}, kAsk, Lane::request, Words{}, {}, kNoFlags);
  other.join();
  const PortTurn turn(port(1));
  EXPECT_GE(asked_, 300u);
}

TEST_F(WakingPortTest, a_wait_of_one_of_several_threads_ends_at_its_deadline_or_tells_a_failure) {
  ASSERT_TRUE(port(1).shareable());
  port(1).share();
  Counter never;
  Counter fails;
  std::atomic<bool> begins{false};
  std::thread other([&] {
    const PortTurn turn(port(1));
    begins = true;
    EXPECT_EQ(port(1).wait({.counter = &fails, .at = 1}), Post::maybe_delivered);
  });
  EXPECT_EQ(
      port(1).wait({.counter = &never, .at = 1, .deadline = port(1).now() + microseconds(3000)}),
      Post::again_credit);
  while (!begins) std::this_thread::yield();
  {
    // The other one lets go of its turn in its wait only.
    const PortTurn turn(port(1));
    fails.failed.fetch_add(1);
  }
  other.join();
}

}  // namespace
}  // namespace fairlead::lci
