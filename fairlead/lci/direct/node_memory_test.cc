// Memory that ranks of a node have in common (node_memory.h), by each way that a direct port goes.
#include "fairlead/lci/node_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/lci/direct/direct_port_fixture.h"

namespace fairlead::lci {
namespace {

class NodeMemoryTest : public DirectPortTest {};
INSTANTIATE_TEST_SUITE_P(Fabrics, NodeMemoryTest, ::testing::ValuesIn(direct_ways()), way_name);

// Memory that rank 1 made and rank 0 takes part in: what others put into either segment is there
// for both. Elsewhere the answer is no, and nothing is exposed.
TEST_P(NodeMemoryTest, RanksOfANodeShareWhatOneOfThemAllocated) {
  start(3);
  NodeMemory* const here = node_memory_of(port(0));
  NodeMemory* const there = node_memory_of(port(1));
  if (has_engines(GetParam().on)) {
    EXPECT_EQ(here, nullptr);
    return;
  }
  ASSERT_TRUE(here != nullptr && there != nullptr);
  auto* const made = static_cast<std::byte*>(there->make_shared(1, 8192));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(there->counts().made, 1u);
  std::vector<std::uint64_t> own(16);
  // Expect: who has memory for others of its node knows what of it they reach
  const bool can = there->shares(1);
  EXPECT_EQ(there->holds(made, 8192), can);
  EXPECT_EQ(there->holds(made + 8000, 192), can);
  EXPECT_FALSE(there->holds(own.data(), 128));
  EXPECT_FALSE(there->holds(made, std::size_t{1} << 50));
  EXPECT_FALSE(here->holds(nullptr, 1));
  ASSERT_EQ(port(1).expose(2, own.data(), 128, kRead | kWrite, nullptr, {}), Post::done);
  // Expect: no memory that is not there, is too small, is no node's, or whose name is taken
  EXPECT_EQ(here->share(7, 1, 3, 64), nullptr);
  EXPECT_EQ(here->share(7, 1, 1, 8193), nullptr);
  EXPECT_EQ(here->share(7, 1, 2, 64), nullptr);
  EXPECT_EQ(here->share(7, 99, 1, 64), nullptr);
  if (!here->shares(1)) {
    EXPECT_EQ(here->share(7, 1, 1, 8192), nullptr);
    EXPECT_EQ(port(0).withdraw(7), Post::invalid);
    return;
  }
  auto* const shared = static_cast<std::byte*>(here->share(7, 1, 1, 8192));
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(here->counts().shared, 1u);
  EXPECT_EQ(here->share(7, 1, 1, 8192), nullptr);
  const auto put = [&](Rank to, SegId segment, std::uint64_t offset, unsigned seed) {
    const auto data = pattern(256, seed);
    const PutPiece piece{offset, data.data(), data.size()};
    Counter done;
    const Post begun = port(2).put({to}, segment, {&piece, 1}, &done, kNoCounter, kNoFlags);
    EXPECT_TRUE(begun == Post::done || begun == Post::pending);
    (void)port(2).fence({to}, &done);
    EXPECT_TRUE(until([&] { return done.ok == 2; }));
    EXPECT_EQ(std::memcmp(made + offset, data.data(), data.size()), 0);
    EXPECT_EQ(std::memcmp(shared + offset, data.data(), data.size()), 0);
  };
  put(1, 1, 512, 1);
  put(0, 7, 4096, 2);
  // Expect: bounds are the segment's; where it is told, and when, is the way's
  const auto much = pattern(16, 9);
  const PutPiece beyond{8192 - 8, much.data(), much.size()};
  Counter over;
  const Post answer = port(2).put({0}, 7, {&beyond, 1}, &over, kNoCounter, kNoFlags);
  if (answer != Post::invalid) {
    (void)port(2).fence({0}, &over);
    EXPECT_TRUE(until([&] { return over.ok + over.failed == 2; }));
  }
  for (std::size_t i = 8192 - 8; i < 8192; ++i) EXPECT_EQ(made[i], std::byte{0});
  // Expect: who maps either maps the same
  if ((port(2).caps(0).flags & kMappable) != 0) {
    auto* const mapped = static_cast<std::byte*>(port(2).map(0, 7));
    ASSERT_NE(mapped, nullptr);
    EXPECT_EQ(mapped[4096], shared[4096]);
    mapped[4097] = std::byte{77};
    EXPECT_EQ(made[4097], std::byte{77});
  }
  // Expect: its end leaves the owner's as it is
  EXPECT_EQ(port(0).withdraw(7), Post::done);
  EXPECT_EQ(port(2).map(0, 7), nullptr);
  put(1, 1, 1024, 3);
}

}  // namespace
}  // namespace fairlead::lci
