// The NI engine and its ranks by hand: who may do what, and what goes on without the ranks.
#include "fairlead/lci/ni/ni_engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/fabric/loop/loop.h"
#include "fairlead/lci/direct/fake_nic.h"
#include "fairlead/lci/internal_channels.h"
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

  // A segment of one name on every rank, for queries.
  std::vector<std::uint64_t*> allocate_words() {
    std::vector<std::uint64_t*> words;
    for (Rank r = 0; r < kRanks; ++r) {
      words.push_back(
          static_cast<std::uint64_t*>(port(r).allocate(kWords, kWordsBytes, Place::host)));
    }
    return words;
  }
  static Query query_of(Cmp cmp, std::uint64_t value) {
    Query query;
    query.segment = kWords;
    query.cmp = cmp;
    query.value = value;
    return query;
  }
  enum class Told { yes, no, failed, nothing };
  // By rank 0; nobody else polls.
  Told ask(const Query& query) {
    bool all = false;
    Counter done;
    if (port(0).query(query, &all, &done) != Post::pending) return Told::failed;
    for (int i = 0; i < 10 && done.ok + done.failed == 0; ++i) {
      port(0).poll();
      turn();
    }
    port(0).poll();
    if (done.failed > 0) return Told::failed;
    return done.ok == 0 ? Told::nothing : all ? Told::yes : Told::no;
  }
  // What a library of somebody else's might post.
  bool post_by_hand(Rank from, Rank to, Chan chan, const Words& words,
                    std::span<const std::byte> data) {
    RankQueues& its = queues(from);
    const std::uint32_t posted = its.posted.load();
    if (its.posted_taken.load() != posted) return false;
    fabric::NiPacket& packet = queue_area(*job_, from).slot(0);
    packet.header.client = {};
    packet.header.client.chan = chan;
    packet.header.client.lane = static_cast<std::uint8_t>(Lane::control);
    packet.header.client.size = static_cast<std::uint32_t>(data.size());
    std::memcpy(packet.header.client.words, words, sizeof words);
    if (!data.empty()) std::memcpy(packet.payload(), data.data(), data.size());
    its.descriptors[posted % fabric::engine::kDescriptors] = {0, to};
    its.posted.store(posted + 1);
    return true;
  }

  static constexpr SegId kWords = 7;
  static constexpr std::size_t kWordsBytes = 4096;
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

TEST_F(NiEngineTest, QueriesAreAnsweredWithoutTheirRanks) {
  const std::vector<std::uint64_t*> words = allocate_words();
  for (Rank r = 0; r < kRanks; ++r) *words[r] = 10 + r;
  // A group whose first member computes is asked, too.
  const Rank members[] = {2, 0, 1};
  for (Rank r = 0; r < kRanks; ++r) ASSERT_EQ(port(r).group(5, members), Post::done);
  for (const std::uint16_t group : {std::uint16_t{0}, std::uint16_t{5}}) {
    Query query = query_of(Cmp::ge, 10);
    query.group = group;
    query.stores = true;
    query.store_segment = kWords;
    query.store_offset = 8;
    query.store_value = 70u + group;
    EXPECT_EQ(ask(query), Told::yes);
    for (const std::uint64_t* own : words) EXPECT_EQ(own[1], 70u + group);
    // Expect: nothing is stored where one member says no
    query.value = 11;
    query.store_value = 99;
    EXPECT_EQ(ask(query), Told::no);
    for (const std::uint64_t* own : words) EXPECT_EQ(own[1], 70u + group);
  }
  EXPECT_EQ(port(1).counters().polls + port(2).counters().polls, 0u);
}

TEST_F(NiEngineTest, QueriesOfWhatIsNotThereFail) {
  const std::vector<std::uint64_t*> words = allocate_words();
  const auto expect_nothing_stored = [&] {
    for (const std::uint64_t* own : words) EXPECT_EQ(own[1], 0u);
  };
  Query query = query_of(Cmp::ge, 0);
  query.stores = true;
  query.store_segment = kWords;
  query.store_offset = 8;
  query.store_value = 99;
  // Expect: bounds are kept
  query.offset = kWordsBytes;
  EXPECT_EQ(ask(query), Told::failed);
  query.offset = std::uint64_t{1} << 40;
  EXPECT_EQ(ask(query), Told::failed);
  query.offset = 0;
  query.store_offset = kWordsBytes;
  EXPECT_EQ(ask(query), Told::failed);
  query.store_offset = 8;
  // Expect: who may not read or write there is refused
  const Rank just_one[] = {2};
  ASSERT_EQ(port(1).regrant(kWords, kRead | kWrite, just_one), Post::done);
  EXPECT_EQ(ask(query), Told::failed);
  ASSERT_EQ(port(1).regrant(kWords, kRead, {}), Post::done);
  EXPECT_EQ(ask(query), Told::failed);
  expect_nothing_stored();
  query.stores = false;
  EXPECT_EQ(ask(query), Told::yes);
  // Expect: what one member has withdrawn is nowhere
  ASSERT_EQ(port(1).withdraw(kWords), Post::done);
  EXPECT_EQ(ask(query), Told::failed);
  EXPECT_EQ(port(1).counters().polls + port(2).counters().polls, 0u);
}

TEST_F(NiEngineTest, WordsOfTheNiAreServedLikeMemory) {
  std::vector<std::uint64_t*> words;
  for (Rank r = 0; r < kRanks; ++r) {
    ASSERT_NE(port(r).allocate(3, 24, Place::ni), nullptr);
    words.push_back(static_cast<std::uint64_t*>(port(r).allocate(kWords, 16, Place::ni)));
    words[r][0] = 5;
  }
  Query query = query_of(Cmp::eq, 5);
  query.stores = true;
  query.store_segment = kWords;
  query.store_offset = 8;
  query.store_value = 6;
  EXPECT_EQ(ask(query), Told::yes);
  const std::uint64_t value = 9;
  const PutPiece piece{0, &value, sizeof value};
  ASSERT_EQ(port(0).put({0, true}, kWords, {&piece, 1}, nullptr, kNoCounter, kNoFlags), Post::done);
  Counter swapped;
  Counter read;
  std::uint64_t old = 0;
  std::uint64_t got = 0;
  (void)port(0).atomic({1, kWords, 8}, Atomic::swap, 8, 0, &old, &swapped);
  (void)port(0).get({2, kWords, 0}, &got, 8, &read, kNoFlags);
  for (int i = 0; i < 10; ++i) {
    port(0).poll();
    turn();
  }
  EXPECT_EQ(words[1][0], 9u);
  EXPECT_EQ(words[1][1], 8u);
  EXPECT_EQ(old, 6u);
  EXPECT_EQ(words[2][1], 6u);
  EXPECT_EQ(got, 9u);
  EXPECT_EQ(port(1).counters().polls + port(2).counters().polls, 0u);
  // Expect: bounds are the segment's, not the words'
  query.offset = 16;
  EXPECT_EQ(ask(query), Told::failed);
}

TEST_F(NiEngineTest, WhatOnlyAHostReachesItAnswersItself) {
  const std::vector<std::uint64_t*> words = allocate_words();
  ASSERT_EQ(port(1).withdraw(kWords), Post::done);
  std::uint64_t own[2] = {5, 0};
  ASSERT_EQ(port(1).expose(kWords, own, sizeof own, kRead | kWrite, nullptr, {}), Post::done);
  Query query = query_of(Cmp::le, 5);
  query.stores = true;
  query.store_segment = kWords;
  query.store_offset = 8;
  query.store_value = 3;
  bool all = false;
  Counter done;
  ASSERT_EQ(port(0).query(query, &all, &done), Post::pending);
  // Expect: it waits for that rank
  for (int i = 0; i < 20; ++i) {
    port(0).poll();
    turn();
  }
  EXPECT_EQ(done.ok + done.failed, 0u);
  for (int i = 0; i < 20; ++i) {
    port(0).poll();
    port(1).poll();
    turn();
  }
  EXPECT_EQ(done.ok, 1u);
  EXPECT_TRUE(all);
  EXPECT_EQ(own[1], 3u);
  EXPECT_EQ(words[2][1], 3u);
  EXPECT_EQ(port(2).counters().polls, 0u);
}

TEST_F(NiEngineTest, QueriesOfALostMemberFail) {
  (void)allocate_words();
  EXPECT_EQ(ask(query_of(Cmp::eq, 0)), Told::yes);
  job_->mark_dead(2);
  // Expect: said by the engine to rank 1, whose host asks before it has heard of it
  turn();
  bool all = false;
  Counter done;
  ASSERT_EQ(port(1).query(query_of(Cmp::eq, 0), &all, &done), Post::pending);
  for (int i = 0; i < 10; ++i) {
    turn();
    port(1).poll();
  }
  EXPECT_EQ(done.failed, 1u);
  EXPECT_FALSE(all);
  EXPECT_EQ(port(1).query(query_of(Cmp::eq, 0), &all, &done), Post::peer_down);
}

TEST_F(NiEngineTest, AGroupPutIsWrittenWithoutItsMembers) {
  const std::vector<std::uint64_t*> words = allocate_words();
  const Rank members[] = {2, 0, 1};
  for (Rank r = 0; r < kRanks; ++r) ASSERT_EQ(port(r).group(5, members), Post::done);
  const std::uint64_t value = 41;
  const PutPiece piece{8, &value, sizeof value};
  Counter fenced;
  ASSERT_EQ(port(0).put({5, true}, kWords, {&piece, 1}, nullptr, kNoCounter, kNoFlags), Post::done);
  (void)port(0).fence({5, true}, &fenced);
  for (int i = 0; i < 10; ++i) {
    port(0).poll();
    turn();
  }
  EXPECT_EQ(fenced.ok, 1u);
  EXPECT_EQ(words[1][1], 41u);
  EXPECT_EQ(words[2][1], 41u);
  EXPECT_EQ(words[0][1], 0u);
  EXPECT_EQ(port(1).counters().polls + port(2).counters().polls, 0u);
}

TEST_F(NiEngineTest, WhatARankSaysOfGroupsIsNotBelieved) {
  const std::vector<std::uint64_t*> words = allocate_words();
  // Parts that do not fit, ranks that do not exist, and what is told of another rank.
  Prng draw(3);
  for (int i = 0; i < 500; ++i) {
    Words words_told;
    for (std::uint32_t& word : words_told) word = static_cast<std::uint32_t>(draw.next());
    if (i % 2 == 0) words_told[1] %= 5;
    if (i % 4 < 2) words_told[2] %= 3;
    std::uint32_t ranks[8];
    for (std::uint32_t& rank : ranks) rank = static_cast<std::uint32_t>(draw.below(4));
    const auto bytes = std::as_bytes(std::span(ranks)).first(draw.below(sizeof ranks + 1));
    const InternalChan chan = i % 3 == 0 ? kQueryChan : kGroupNameChan;
    ASSERT_EQ(post_by_hand(1, i % 5 == 0 ? 2 : 1, chan, words_told, bytes), true);
    turn();
  }
  EXPECT_EQ(fatal_, "");
  EXPECT_EQ(ask(query_of(Cmp::eq, 0)), Told::yes);
  for (const std::uint64_t* own : words) EXPECT_EQ(own[0] + own[1], 0u);
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
