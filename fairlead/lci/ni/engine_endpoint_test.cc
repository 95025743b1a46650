// Ports of ranks that an NI engine serves, and what only they promise.
#include "fairlead/lci/ni/engine_endpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

// Threads that compute and never wait, one for each processor.
class Company {
 public:
  Company() {
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) cpu_pause();
      });
    }
  }
  ~Company() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

class EnginesTest : public DirectPortTest {};

TEST_P(EnginesTest, GoOnWhereOthersCompute) {
  start(3);
  Inbox box;
  port(2).bind(9, box.upcall(), {});
  const Company company;
  // A message takes no time slice of those who compute; but all together want more than their share
  // of the processors, so that a round in a busy minute shows nothing.
  constexpr int kRounds = 10;
  constexpr std::size_t kMessages = 101;
  Ps median = kNever;
  for (int round = 0; round < kRounds && median > milliseconds(1); ++round) {
    std::vector<Ps> took;
    for (std::size_t i = 0; i < kMessages; ++i) {
      const Ps begin = port(0).now();
      box.items.clear();
      ASSERT_EQ(port(0).send_small({2}, 9, Lane::request, Words{}, {}, kNoBlock), Post::done);
      ASSERT_TRUE(until([&] { return box.items.size() == 1; })) << "message " << i;
      took.push_back(port(0).now() - begin);
    }
    std::nth_element(took.begin(), took.begin() + kMessages / 2, took.end());
    median = took[kMessages / 2];
  }
  EXPECT_LT(median, milliseconds(1));
}

TEST_P(EnginesTest, WhatADeadRankOwesFails) {
  start(3);
  std::uint64_t own[8] = {};
  ASSERT_EQ(port(2).expose(5, own, sizeof own, kRead | kWrite, nullptr, {}), Post::done);
  for (Rank r = 0; r < 3; ++r) ASSERT_NE(port(r).allocate(6, 8, Place::ni), nullptr);
  Counter asked;
  std::uint64_t got = 0;
  // Rank 2 would have to answer it itself.
  ASSERT_EQ(port(0).get({2, 5, 0}, &got, 8, &asked, kNoFlags), Post::pending);
  for (int i = 0; i < 20; ++i) (void)port(0).poll();
  EXPECT_EQ(asked.ok + asked.failed, 0u);
  mark_dead(2);
  ASSERT_TRUE(until([&] { return asked.ok + asked.failed == 1; }));
  EXPECT_EQ(asked.failed, 1u);
  // Expect: what begins later fails too, each as its call says, and the others go on
  std::uint64_t old = 0;
  Counter added;
  EXPECT_EQ(port(0).atomic({2, 6, 0}, Atomic::add, 1, 0, &old, &added), Post::peer_down);
  Counter fenced;
  (void)port(0).fence({2}, &fenced);
  EXPECT_TRUE(until([&] { return fenced.failed == 1; }));
  Packet* packet = port(0).alloc({2}, Lane::request, 100, kNoBlock);
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(port(0).send(packet, 1, Words{}, 100, {}, nullptr, kNoBlock), Post::peer_down);
  port(0).release(packet);
  (void)port(0).atomic({1, 6, 0}, Atomic::add, 7, 0, &old, &added);
  EXPECT_TRUE(until([&] { return added.ok == 1; }));
}

INSTANTIATE_TEST_SUITE_P(Fabrics, EnginesTest,
                         ::testing::Values(Way{"engine", On::engine, true},
                                           Way{"engine_bad", On::engine, true, true, kBad},
                                           Way{"engines", On::engines, true},
                                           Way{"engines_bad", On::engines, true, true, kBad}),
                         way_name);

}  // namespace
}  // namespace fairlead::lci
