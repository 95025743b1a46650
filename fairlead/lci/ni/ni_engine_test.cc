// The NI engine and its ranks by hand: who may do what, and what goes on without the ranks.
#include "fairlead/lci/ni/ni_engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/fabric/loop/loop.h"
#include "fairlead/lci/direct/fake_nic.h"
#include "fairlead/lci/ni/engine_endpoint.h"

namespace fairlead::lci {
namespace {

using fabric::engine::queue_area;
using fabric::engine::RankQueues;

// One node of three ranks; turned by the test.
class NiEngineTest : public ::testing::Test {
 protected:
  NiEngineTest() {
    job_ = std::move(fabric::ShmJob::create({kRanks, 32 << 20, 0}).value());
    loop_ = std::move(fabric::LoopNetwork::create({1, 1 << 20}).value());
    wire_ = loop_->endpoint(0);
    NiEngineOptions options;
    options.nodes = nodes_;
    options.wait = wait_plan_fibers();
    options.fatal = [this](const std::string& reason) { fatal_ += reason; };
    engine_ = std::make_unique<NiEngine>(*job_, *wire_, options);
    engine_->ready();
    for (Rank r = 0; r < kRanks; ++r) {
      fabric::engine::HostOptions host;
      host.nodes = nodes_;
      host.self = r;
      host.wait = wait_plan_fibers();
      host.fatal = [](void* self, const std::string& reason) {
        static_cast<NiEngineTest*>(self)->fatal_ += reason;
      };
      host.context = this;
      ranks_.push_back(std::move(make_engine_endpoint(*job_, host).value()));
    }
  }
  Port& port(Rank rank) { return ranks_[rank]->port(); }
  RankQueues& queues(Rank rank) { return queue_area(*job_, rank).queues(); }
  void turn(int times = 8) {
    for (int i = 0; i < times; ++i) (void)engine_->turn();
  }
  // Ranks 1 and 2 still reach each other.
  void expect_the_others_go_on() {
    int came = 0;
    port(2).bind(3,
                 {[](void* count, Packet*, const Arrival&) {
                    ++*static_cast<int*>(count);
                    return Keep::no;
                  },
                  &came},
                 {});
    ASSERT_EQ(port(1).send_small({2}, 3, Lane::request, Words{}, {}, kNoBlock), Post::done);
    turn();
    port(2).poll();
    EXPECT_EQ(came, 1);
  }

  static constexpr Rank kRanks = 3;
  const NodeMap nodes_ = NodeMap::even(kRanks, kRanks);
  std::unique_ptr<fabric::ShmJob> job_;
  std::unique_ptr<fabric::LoopNetwork> loop_;
  std::unique_ptr<fabric::Nic> wire_;
  std::unique_ptr<NiEngine> engine_;
  std::vector<std::unique_ptr<RankEndpoint>> ranks_;
  std::string fatal_;
};

TEST_F(NiEngineTest, MemoryAndWordsAreServedWithoutTheirRank) {
  auto* memory = static_cast<std::uint64_t*>(port(1).allocate(7, 64, Place::host));
  ASSERT_NE(memory, nullptr);
  ASSERT_NE(port(0).allocate(8, 16, Place::ni), nullptr);
  auto* words = static_cast<std::uint64_t*>(port(1).allocate(8, 16, Place::ni));
  words[1] = 40;
  const std::uint64_t value = 99;
  const PutPiece piece{16, &value, 8};
  Counter done;
  Counter fenced;
  Counter added;
  Counter read;
  std::uint64_t old = 0;
  std::uint64_t got = 0;
  (void)port(0).put({1}, 7, {&piece, 1}, &done, kNoCounter, kNoFlags);
  (void)port(0).fence({1}, &fenced);
  (void)port(0).get({1, 7, 16}, &got, 8, &read, kNoFlags);
  (void)port(0).atomic({1, 8, 8}, Atomic::add, 2, 0, &old, &added);
  for (int i = 0; i < 10; ++i) {
    port(0).poll();
    turn();
  }
  // Expect: all of it done, and rank 1 has not polled once.
  EXPECT_EQ(port(1).counters().polls, 0u);
  EXPECT_EQ(memory[2], 99u);
  EXPECT_EQ(fenced.ok, 1u);
  EXPECT_EQ(got, 99u);
  EXPECT_EQ(added.ok, 1u);
  EXPECT_EQ(old, 40u);
  EXPECT_EQ(words[1], 42u);
}

TEST_F(NiEngineTest, AnIndexThatRunsAwayCutsItsRankOff) {
  queues(0).posted.store(5000);
  turn();
  // Expect: named, and the others are served.
  EXPECT_NE(fatal_.find("rank 0 handed its NI engine more descriptors"), std::string::npos);
  expect_the_others_go_on();
}

TEST_F(NiEngineTest, ADescriptorOfNoBufferCutsItsRankOff) {
  queues(0).descriptors[0] = {99'999, 1};
  queues(0).posted.store(1);
  turn();
  EXPECT_NE(fatal_.find("a descriptor that names no packet"), std::string::npos);
  expect_the_others_go_on();
}

TEST_F(NiEngineTest, AnEndlessPacketCutsItsRankOff) {
  fabric::NiPacket& packet = queue_area(*job_, 0).slot(0);
  packet.header.client.size = 1 << 20;
  queues(0).descriptors[0] = {0, 1};
  queues(0).posted.store(1);
  turn();
  EXPECT_NE(fatal_.find("a descriptor that names no packet"), std::string::npos);
  expect_the_others_go_on();
}

TEST_F(NiEngineTest, AReceiveBufferOfNobodyCutsItsRankOff) {
  for (std::uint32_t& offer : queues(0).offers) offer = 70'000;
  ASSERT_EQ(port(1).send_small({0}, 3, Lane::request, Words{}, {}, kNoBlock), Post::done);
  turn();
  EXPECT_NE(fatal_.find("a receive buffer that it does not have"), std::string::npos);
  expect_the_others_go_on();
}

TEST_F(NiEngineTest, ATableThatPointsOutOfItsRegionServesNothing) {
  auto* memory = static_cast<std::uint64_t*>(port(1).allocate(7, 64, Place::host));
  ASSERT_NE(memory, nullptr);
  // Its owner, or whoever writes there, names a segment that is larger than the region.
  Exposures table(queue_area(*job_, 1).rest().data(), kRanks);
  ASSERT_EQ(table.add(8, {ExposedIn::region, kRead | kWrite, 4096, std::uint64_t{1} << 40}, {}),
            Post::done);
  std::uint64_t got = 5;
  Counter read;
  (void)port(0).get({1, 8, std::uint64_t{1} << 33}, &got, 8, &read, kNoFlags);
  for (int i = 0; i < 10; ++i) {
    port(0).poll();
    turn();
  }
  EXPECT_EQ(read.failed, 1u);
  EXPECT_EQ(got, 5u);
}

TEST_F(NiEngineTest, ATableThatNamesAddressesOfTheEngineServesNothing) {
  auto* memory = static_cast<std::uint64_t*>(port(1).allocate(7, 64, Place::host));
  ASSERT_NE(memory, nullptr);
  std::uint64_t private_word = 5;
  Exposures table(queue_area(*job_, 1).rest().data(), kRanks);
  // What is neither in the region nor in the rank's process.
  ASSERT_EQ(table.add(8,
                      {static_cast<ExposedIn>(9), kRead | kWrite,
                       reinterpret_cast<std::uintptr_t>(&private_word), 8},
                      {}),
            Post::done);
  std::uint64_t got = 0;
  Counter read;
  (void)port(0).get({1, 8, 0}, &got, 8, &read, kNoFlags);
  const std::uint64_t eight = 8;
  const PutPiece piece{0, &eight, 8};
  (void)port(0).put({1}, 8, {&piece, 1}, nullptr, kNoCounter, kNoFlags);
  for (int i = 0; i < 10; ++i) {
    port(0).poll();
    turn();
  }
  EXPECT_EQ(read.failed, 1u);
  EXPECT_EQ(got, 0u);
  EXPECT_EQ(private_word, 5u);
}

TEST(NiEnginePaths, RanksAreToldWhatTheirEngineFindsOut) {
  // The engine of ranks 0 and 1; its network has three nodes.
  const NodeMap nodes = NodeMap::even(6, 2);
  auto job = std::move(fabric::ShmJob::create({6, 32 << 20, 0}).value());
  FakeNic wire;
  NiEngineOptions options;
  options.nodes = nodes;
  options.wait = wait_plan_fibers();
  NiEngine engine(*job, wire, options);
  engine.ready();
  fabric::engine::HostOptions host;
  host.nodes = nodes;
  host.self = 1;
  host.wait = wait_plan_fibers();
  const auto rank = std::move(make_engine_endpoint(*job, host).value());
  std::vector<Event> told;
  rank->port().on_event({[](void* all, const Event& event) {
                           static_cast<std::vector<Event>*>(all)->push_back(event);
                         },
                         &told});
  const auto poll = [&] {
    for (int i = 0; i < 4; ++i) rank->port().poll();
  };
  poll();
  EXPECT_TRUE(told.empty());
  // Expect: one event for each rank behind a network that was lost, though told twice
  wire.change_path(2, true);
  wire.change_path(2, true);
  poll();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].kind, Event::Kind::path_lost);
  EXPECT_EQ(told[0].rank, 4u);
  EXPECT_EQ(told[1].rank, 5u);
  // Expect: each of many changes, in order, when the rank looks late
  for (int i = 0; i < 5; ++i) {
    wire.change_path(2, false);
    wire.change_path(2, true);
  }
  wire.change_path(1, true);
  poll();
  EXPECT_EQ(told.size(), 2u + 20u + 2u);
  EXPECT_EQ(rank->port().path(5).changes, 11u);
  EXPECT_EQ(rank->port().path(5).lost, 6u);
  EXPECT_EQ(rank->port().path(2).lost, 1u);
  EXPECT_EQ(rank->port().path(0).changes, 0u);
  // Expect: none twice
  poll();
  EXPECT_EQ(told.size(), 24u);
}

TEST_F(NiEngineTest, ARankWhoseEngineIsGoneIsTold) {
  fabric::engine::mark_engine_gone(*job_, nodes_, 0);
  Until until;
  std::atomic<std::uint64_t> never{0};
  until.word = &never;
  until.value = 1;
  until.deadline = port(0).now() + milliseconds(5);
  until.what = "the end";
  EXPECT_EQ(port(0).wait(until), Post::again_credit);
  EXPECT_NE(fatal_.find("the NI engine of node 0 is gone, and rank 0 waits for the end"),
            std::string::npos);
}

}  // namespace
}  // namespace fairlead::lci
