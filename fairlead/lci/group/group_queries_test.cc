// Queries and chains whose members are lost, and what strangers say in their packets.
#include "fairlead/lci/group/group_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/lci/direct/direct_port_fixture.h"
#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {
namespace {

constexpr SegId kSegment = 7;
constexpr Rank kRanks = 6;

class GroupQueriesTest : public DirectPortTest {
 protected:
  void start_all() {
    start(kRanks);
    for (Rank rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(port(rank).expose(kSegment, words_[rank].data(), 16, kRead | kWrite | kAtomic,
                                  nullptr, {}),
                Post::done);
    }
  }
  static Query holds_everywhere() {
    Query query;
    query.segment = kSegment;
    query.stores = true;
    query.store_segment = kSegment;
    query.store_offset = 8;
    query.store_value = 1;
    return query;
  }
  // Polls all but the lost.
  bool ends(Counter& done, std::span<const Rank> lost) {
    const std::int64_t give_up = monotonic_ns() + 20'000'000'000;
    while (done.ok + done.failed == 0 && monotonic_ns() < give_up) {
      for (Rank rank = 0; rank < kRanks; ++rank) {
        if (std::find(lost.begin(), lost.end(), rank) == lost.end()) port(rank).poll();
      }
    }
    return done.ok + done.failed == 1;
  }
  void lose(Rank lost) {
    start_all();
    const Rank gone[] = {lost};
    const Rank by = 3;
    bool all = false;
    Counter before;
    ASSERT_EQ(port(by).query(holds_everywhere(), &all, &before), Post::pending);
    ASSERT_TRUE(ends(before, {}));
    EXPECT_TRUE(before.ok == 1 && all);
    // Expect: under way when the member is lost it fails, and ends
    Counter during;
    ASSERT_EQ(port(by).query(holds_everywhere(), &all, &during), Post::pending);
    for (int i = 0; i < 3; ++i) port(by).poll();
    mark_dead(lost);
    EXPECT_TRUE(ends(during, gone));
    EXPECT_EQ(during.failed, 1u);
    EXPECT_FALSE(all);
    // Expect: nothing holds on all members from then on, whoever asks
    for (const Rank asks : {by, Rank{1}}) {
      Counter after;
      const Post answer = port(asks).query(holds_everywhere(), &all, &after);
      if (answer == Post::peer_down) continue;
      EXPECT_EQ(answer, Post::pending);
      EXPECT_TRUE(ends(after, gone));
      EXPECT_EQ(after.failed, 1u);
    }
  }
  std::array<std::array<std::uint64_t, 2>, kRanks> words_{};
};

TEST_P(GroupQueriesTest, ALeafThatIsLostFailsThem) { lose(5); }
TEST_P(GroupQueriesTest, AParentThatIsLostFailsThem) { lose(4); }
TEST_P(GroupQueriesTest, TheParentOfWhoAsksThatIsLostFailsThem) { lose(2); }
TEST_P(GroupQueriesTest, TheFirstMemberThatIsLostFailsThem) { lose(0); }

TEST_P(GroupQueriesTest, WhatWaitsForACounterFailsWhereItsTargetIsLost) {
  start_all();
  Counter gate;
  Counter lost;
  Counter other;
  Operation add;
  add.kind = Operation::Kind::atomic;
  add.dest = {4};
  add.segment = kSegment;
  add.a = 1;
  add.done = &lost;
  ASSERT_EQ(port(1).when(&gate, 1, add), Post::pending);
  add.dest = {2};
  add.done = &other;
  ASSERT_EQ(port(1).when(&gate, 1, add), Post::pending);
  mark_dead(4);
  const Rank gone[] = {4};
  for (int i = 0; i < 100; ++i) port(1).poll();
  gate.ok = 1;
  // Expect: each ends once, and the one behind it goes on
  EXPECT_TRUE(ends(lost, gone));
  EXPECT_TRUE(ends(other, gone));
  EXPECT_EQ(other.ok, 1u);
  EXPECT_EQ(words_[2][0], 1u);
}

TEST_P(GroupQueriesTest, WhatStrangersSayChangesNothing) {
  start_all();
  const QueryData data{0, 0, 8, 99};
  const auto bytes = std::as_bytes(std::span(&data, 1));
  Prng draw(5);
  // Rank 5 is nobody's parent and not asked; most of what it says is no packet of a query at all.
  for (int i = 0; i < 300; ++i) {
    Words words;
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(draw.next());
    // Not asked by it: that is its right.
    if ((words[0] >> 16 & 7) == 0) continue;
    if (i % 2 == 0) words[0] &= 0xffff0000;
    const std::size_t size = i % 3 == 0 ? 0 : i % 3 == 1 ? 32 : 7;
    ASSERT_TRUE(until([&] {
      const Rank to = static_cast<Rank>(i) % 5;
      return port(5).send_small({to}, kQueryChan, Lane::control, words, bytes.first(size),
                                kNoBlock) == Post::done;
    }));
  }
  Query query = holds_everywhere();
  for (std::uint64_t value = 1; value < 20; ++value) {
    bool all = false;
    Counter done;
    query.store_value = value;
    ASSERT_EQ(port(static_cast<Rank>(value % kRanks)).query(query, &all, &done), Post::pending);
    ASSERT_TRUE(ends(done, {}));
    EXPECT_TRUE(done.ok == 1 && all);
    for (const auto& own : words_) EXPECT_EQ(own[1], value);
  }
}

std::vector<Way> ways() {
  std::vector<Way> all = remote_memory_ways();
  all.push_back({"engine_bad", On::engine, false, true, kBad});
  all.push_back({"engines_bad", On::engines, false, true, kBad});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, GroupQueriesTest, ::testing::ValuesIn(ways()), way_name);

}  // namespace
}  // namespace fairlead::lci
