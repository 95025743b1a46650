// Numbers of the engine past their wrap.
#include <gtest/gtest.h>

#include <string>

#include "fairlead/systems/mpi/collectives/wrong_call.h"
#include "fairlead/systems/mpi/engine_test_fixture.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

constexpr std::uint32_t kLast = ~std::uint32_t{0};

TEST_F(EngineTest, EverySynchronousSendAsksForItsAnswer) {
  const std::string data = text(8);
  for (int i = 0; i < 600; ++i) {
    Request* const send = engine.isend(data.data(), 8, {kContext, 1, 5}, true);
    ASSERT_NE(send, nullptr);
    // Expect: an id, as 0 says that nobody waits; and done once the answer names it.
    ASSERT_NE(port.sent.back().words[2], 0u) << i;
    ASSERT_FALSE(send->done());
    port.arrive(1, {first_word(Kind::finished, 0), port.sent.back().words[2], 0, 0}, bytes_of(0ull),
                lci::Lane::reply);
    ASSERT_TRUE(send->done()) << i;
    engine.finish(send);
  }
  EXPECT_EQ(engine.strays(), 0u);
}

TEST(EngineWraps, NumbersOfMessages) {
  FakePort port(0, 4);
  Engine engine(port, {}, {}, {.message = kLast - 1});
  const std::string data = text(2000);
  for (std::uint32_t i = 0; i < 4; ++i) {
    Request* const send = engine.isend(data.data(), data.size(), {kContext, 1, 5}, false);
    ASSERT_NE(send, nullptr);
    EXPECT_TRUE(send->done());
    engine.finish(send);
    EXPECT_EQ(port.sent.back().words[1], kLast - 1 + i);
  }
  // Expect: a receiver tells messages of such numbers apart as any.
  std::string buffers[4];
  std::vector<Request*> receives;
  for (std::string& buffer : buffers) {
    buffer.assign(2000, '.');
    receives.push_back(engine.irecv(buffer.data(), 2000, kContext, 1, kAnyTag));
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    port.arrive(1, {word(Kind::eager_first), 5, 2000, kLast - 1 + i}, data.substr(0, 1024));
  }
  for (std::uint32_t i = 4; i-- > 0;) {
    port.arrive(1, {word(Kind::eager_more), kLast - 1 + i, 1024, 0}, data.substr(1024));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(receives[i]->done());
    EXPECT_EQ(buffers[i], data);
    engine.finish(receives[i]);
  }
}

TEST(EngineWraps, NumbersOfSegments) {
  FakePort port(0, 4);
  port.capabilities.flags = lci::kSingleCopy;
  Engine engine(port, {}, {}, {.segment = kLast - 1});
  const std::string data = text(kEagerBytesMax + 1);
  std::vector<Request*> sends;
  for (int i = 0; i < 4; ++i) {
    sends.push_back(engine.isend(data.data(), data.size(), {kContext, 1, 5}, false));
  }
  // Expect: each in a segment of its own, among those of senders.
  EXPECT_EQ(port.exposed.size(), 4u);
  for (const auto& [segment, memory] : port.exposed) {
    EXPECT_TRUE(segment >= kSendSegmentBase && kNames.segments.has(segment)) << segment;
  }
  for (Request* const send : sends) {
    port.arrive(1, {first_word(Kind::finished, 0), send->id, 0, 0}, bytes_of(0ull),
                lci::Lane::reply);
    EXPECT_TRUE(send->done());
    engine.finish(send);
  }
  EXPECT_TRUE(port.exposed.empty());
}

TEST(EngineWraps, GenerationsOfClaims) {
  FakePort port(0, 2);
  ClaimSlots slots(kLast - 2);
  std::optional<Claim> before;
  for (int i = 0; i < 6; ++i) {
    const std::optional<Claim> claim = slots.take(port);
    ASSERT_TRUE(claim.has_value());
    // Expect: the claim takes its chunks; the one before it in that slot takes none.
    if (before.has_value()) {
      EXPECT_EQ(before->take(slots.table(), 4, Claim::End::front), std::nullopt);
    }
    EXPECT_EQ(claim->take(slots.table(), 4, Claim::End::front), 0u);
    EXPECT_EQ(Claim::of_word(claim->word()).take(slots.table(), 4, Claim::End::back), 3u);
    slots.give(*claim);
    before = claim;
  }
}

// The numbers of a communicator's collectives, of which messages carry the lowest 23 bits.
TEST(EngineWraps, TagsOfCollectives) {
  constexpr std::uint64_t kRound = std::uint64_t{CallTag::kNumberMask} + 1;
  for (const std::uint64_t own :
       {std::uint64_t{5}, kRound - 1, kRound, kRound + 1, 7 * kRound + 3, std::uint64_t{kLast},
        std::uint64_t{kLast} + 1, std::uint64_t{kLast} + 2}) {
    const auto tag_of = [](std::uint64_t number) {
      return CallTag::of(number, CollectiveKind::barrier);
    };
    EXPECT_GE(tag_of(own), 0);
    EXPECT_NE(tag_of(own), tag_of(own + 1));
    // Expect: a member that is one behind or ahead is named by its number.
    for (const std::uint64_t theirs : {own - 1, own, own + 1}) {
      EXPECT_EQ(CallTag::number_of(tag_of(theirs), own), theirs) << own;
    }
  }
}

}  // namespace
}  // namespace fairlead::mpi
