// Packets made by hand: in order, twice, past, future, lost, malformed, where numbers wrap.
#include "fairlead/systems/panda/fragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "fairlead/systems/panda/test_port.h"

namespace fairlead::panda {
namespace {

using Verdict = Fragments::Verdict;

constexpr std::size_t kMtu = 100;
constexpr Service kService = 9;

class FragmentsTest : public ::testing::Test {
 protected:
  explicit FragmentsTest(Number first = 0) : peers(16, first), next(first) {}
  ~FragmentsTest() override {
    for (Received* each : whole) pool.give(each);
    for (const auto& [source, group] : {std::pair<Rank, bool>{3, false}, {3, true}, {4, false}}) {
      if (Received* const left = peers.of(source).in[group ? 1 : 0].partial) pool.give(left);
    }
    // Expect: every packet went back to the port.
    EXPECT_EQ(port.packets, 0);
  }

  Verdict arrive(const Head& head, std::size_t bytes, Rank source = 3, bool group = false) {
    lci::Packet* const packet = port.make(bytes);
    for (std::size_t i = 0; i < bytes; ++i) packet->bytes[i] = static_cast<std::byte>(seed + i);
    seed += 7;
    lci::Arrival arrival{source, kChannel, lci::Lane::request, group, {}, packet->bytes};
    std::memcpy(arrival.words, &head, sizeof head);
    const Fragments::Came came = fragments.arrived(packet, arrival);
    if (came.keep == Keep::no) port.release(packet);
    if (came.verdict == Verdict::whole) whole.push_back(came.message);
    EXPECT_EQ(came.message != nullptr,
              came.verdict == Verdict::whole || came.verdict == Verdict::part);
    return came.verdict;
  }
  static Head first(Number number, std::size_t size, Kind kind = Kind::message,
                    Service service = kService) {
    return Head::first(kind, service, size, 77).numbered(number & kNumberMask);
  }
  static Head more(Number number, std::uint32_t index, std::size_t size) {
    return Head::following(index, size).numbered(number & kNumberMask);
  }

  TestPort port{kMtu};
  ReceivedPool pool{port, true};
  Peers peers;
  Fragments fragments{peers, pool, kMtu};
  std::vector<Received*> whole;
  Number next;
  unsigned seed = 1;
};

class FragmentsAtTheWrap : public FragmentsTest {
 protected:
  FragmentsAtTheWrap() : FragmentsTest(kNumberMask) {}
};

TEST_F(FragmentsTest, InOrder) {
  EXPECT_EQ(arrive(first(0, 250), 100), Verdict::part);
  EXPECT_EQ(arrive(more(0, 1, 250), 100), Verdict::part);
  EXPECT_EQ(arrive(more(0, 2, 250), 50), Verdict::whole);
  EXPECT_EQ(arrive(first(1, 0), 0), Verdict::whole);
  EXPECT_EQ(arrive(first(2, 64), 64), Verdict::whole);
  // Expect: what was sent, from the packets it came in; a small one has left its packet.
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(port.packets, 3);
  EXPECT_EQ(whole[0]->source, 3u);
  EXPECT_EQ(whole[0]->service, kService);
  EXPECT_EQ(whole[0]->extra, 77u);
  std::vector<std::byte> bytes(250);
  pool.pop(*whole[0], bytes.data(), 120);
  EXPECT_EQ(port.packets, 2);
  EXPECT_EQ(pool.front(*whole[0]).size(), 80u);
  pool.pop(*whole[0], bytes.data() + 120, 130);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], static_cast<std::byte>(1 + 7 * (i / 100) + i % 100)) << i;
  }
}

TEST_F(FragmentsTest, OfAServiceThatGathers) {
  pool.gather(kService);
  EXPECT_EQ(arrive(first(0, 250), 100), Verdict::part);
  // Expect: no packet is kept; nothing is lost where the same comes twice
  EXPECT_EQ(port.packets, 0);
  EXPECT_EQ(arrive(first(0, 250), 100), Verdict::duplicate);
  EXPECT_EQ(arrive(more(0, 1, 250), 100), Verdict::part);
  EXPECT_EQ(arrive(more(0, 2, 250), 50), Verdict::whole);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(port.packets, 0);
  EXPECT_EQ(pool.block(*whole[0]).size(), 250u);
  std::vector<std::byte> bytes(120);
  pool.pop(*whole[0], bytes.data(), 120);
  // Expect: what is left, in one piece; the first duplicate took seven of the pattern's steps
  const std::span<const std::byte> rest = pool.block(*whole[0]);
  ASSERT_EQ(rest.size(), 130u);
  for (std::size_t i = 0; i < 250; ++i) {
    const std::size_t packet = i < 100 ? 0 : i / 100 + 1;
    ASSERT_EQ(i < 120 ? bytes[i] : rest[i - 120], static_cast<std::byte>(1 + 7 * packet + i % 100));
  }
  pool.skip(*whole[0], 130);
  EXPECT_TRUE(pool.block(*whole[0]).empty());
}

// Those of one packet, answers, other services and those too long to be gathered stay in packets.
TEST_F(FragmentsTest, ThatDoNotGather) {
  pool.gather(kService);
  EXPECT_EQ(arrive(first(0, 100), 100), Verdict::whole);
  EXPECT_EQ(arrive(first(1, 150, Kind::answer), 100), Verdict::part);
  EXPECT_EQ(arrive(more(1, 1, 150), 50), Verdict::whole);
  EXPECT_EQ(arrive(first(2, 150, Kind::message, kService + 1), 100), Verdict::part);
  EXPECT_EQ(arrive(more(2, 1, 150), 50), Verdict::whole);
  EXPECT_EQ(arrive(first(3, kGatheredBytesMax + 1), 100), Verdict::part);
  EXPECT_EQ(port.packets, 6);
  for (Received* const each : whole) EXPECT_TRUE(pool.block(*each).empty());
}

// Sources, and the two ways of one source, are apart.
TEST_F(FragmentsTest, OfSeveralStreamsBetweenEachOther) {
  EXPECT_EQ(arrive(first(0, 150), 100, 3), Verdict::part);
  EXPECT_EQ(arrive(first(0, 150), 100, 3, true), Verdict::part);
  EXPECT_EQ(arrive(first(0, 150), 100, 4), Verdict::part);
  EXPECT_EQ(arrive(more(0, 1, 150), 50, 3, true), Verdict::whole);
  EXPECT_EQ(arrive(more(0, 1, 150), 50, 4), Verdict::whole);
  EXPECT_EQ(arrive(more(0, 1, 150), 50, 3), Verdict::whole);
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_TRUE(whole[0]->via_group);
  EXPECT_EQ(whole[1]->source, 4u);
}

TEST_F(FragmentsTest, TwiceAndPast) {
  EXPECT_EQ(arrive(first(0, 150), 100), Verdict::part);
  // Expect: dropped, and the message goes on.
  EXPECT_EQ(arrive(first(0, 150), 100), Verdict::duplicate);
  EXPECT_EQ(arrive(more(0, 1, 150), 50), Verdict::whole);
  EXPECT_EQ(arrive(more(0, 1, 150), 50), Verdict::duplicate);
  EXPECT_EQ(arrive(first(1, 10), 10), Verdict::whole);
  EXPECT_EQ(arrive(first(1, 10), 10), Verdict::duplicate);
  EXPECT_EQ(arrive(more(0, 1, 150), 50), Verdict::duplicate);
  EXPECT_EQ(arrive(first(0, 150), 100), Verdict::duplicate);
  // Half the numbers back is past, too; one more is ahead.
  EXPECT_EQ(arrive(first(static_cast<Number>(2 - 2048), 10), 10), Verdict::duplicate);
  EXPECT_EQ(arrive(first(static_cast<Number>(2 - 2049), 10), 10), Verdict::gap);
}

TEST_F(FragmentsTest, LostAndFuture) {
  // Expect: a message before it is missing.
  EXPECT_EQ(arrive(first(1, 10), 10), Verdict::gap);
  EXPECT_EQ(arrive(more(1, 1, 150), 50), Verdict::gap);
  EXPECT_EQ(arrive(first(0, 350), 100), Verdict::part);
  // Expect: a packet of this one is missing.
  EXPECT_EQ(arrive(more(0, 2, 350), 100), Verdict::gap);
  // Expect: the rest of it is missing.
  EXPECT_EQ(arrive(first(1, 10), 10), Verdict::gap);
  EXPECT_EQ(arrive(more(0, 1, 350), 100), Verdict::part);
}

TEST_F(FragmentsTest, Malformed) {
  const auto head = [](Kind kind, std::size_t size) { return first(0, size, kind); };
  // Expect: no such kind, no such service, a size that is none, data that does not fit it.
  EXPECT_EQ(arrive(head(static_cast<Kind>(0), 10), 10), Verdict::malformed);
  EXPECT_EQ(arrive(head(static_cast<Kind>(15), 10), 10), Verdict::malformed);
  EXPECT_EQ(arrive(first(0, 10, Kind::message, kServices), 10), Verdict::malformed);
  EXPECT_EQ(arrive(first(0, kMessageBytesMax + 1), 100), Verdict::malformed);
  EXPECT_EQ(arrive(first(0, 10), 9), Verdict::malformed);
  EXPECT_EQ(arrive(first(0, 10), 11), Verdict::malformed);
  EXPECT_EQ(arrive(first(0, 150), 99), Verdict::malformed);
  EXPECT_EQ(arrive(first(0, 150), 101), Verdict::malformed);
  // Expect: by a way that this kind does not take.
  EXPECT_EQ(arrive(head(Kind::ordered, 10), 10), Verdict::malformed);
  for (const Kind kind : {Kind::call, Kind::answer, Kind::gather}) {
    EXPECT_EQ(arrive(head(kind, 10), 10, 3, true), Verdict::malformed);
  }
  // Expect: nothing of that counts.
  EXPECT_EQ(arrive(first(0, 150), 100), Verdict::part);
  EXPECT_EQ(arrive(more(0, 1, 151), 51), Verdict::malformed);
  EXPECT_EQ(arrive(more(0, 1, 150), 49), Verdict::malformed);
  EXPECT_EQ(arrive(more(0, 1, 150), 51), Verdict::malformed);
  EXPECT_EQ(arrive(more(0, 1, 150), 50), Verdict::whole);
}

TEST_F(FragmentsAtTheWrap, GoesOn) {
  EXPECT_EQ(arrive(first(kNumberMask, 150), 100), Verdict::part);
  EXPECT_EQ(arrive(first(0, 10), 10), Verdict::gap);
  EXPECT_EQ(arrive(more(kNumberMask, 1, 150), 50), Verdict::whole);
  EXPECT_EQ(arrive(first(kNumberMask, 150), 100), Verdict::duplicate);
  EXPECT_EQ(arrive(first(1, 10), 10), Verdict::gap);
  EXPECT_EQ(arrive(first(0, 150), 100), Verdict::part);
  EXPECT_EQ(arrive(more(kNumberMask, 1, 150), 50), Verdict::duplicate);
  EXPECT_EQ(arrive(more(1, 1, 150), 50), Verdict::gap);
  EXPECT_EQ(arrive(more(0, 1, 150), 50), Verdict::whole);
}

}  // namespace
}  // namespace fairlead::panda
