#include "fairlead/systems/mpi/matcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace fairlead::mpi {
namespace {

struct Receive : Request {
  Receive(std::uint32_t context, Rank source, int tag) { envelope = {context, source, tag}; }
};

struct Message : Unexpected {
  Message(std::uint32_t context, Rank source, int tag) { envelope = {context, source, tag}; }
};

TEST(Matcher, ReceivesMatchInTheOrderTheyWerePosted) {
  Matcher matcher(4);
  Receive first(0, 1, 7);
  Receive second(0, 1, 7);
  EXPECT_EQ(matcher.post(&first), nullptr);
  EXPECT_EQ(matcher.post(&second), nullptr);
  // Expect: the one posted first, then the other, then none.
  EXPECT_EQ(matcher.arrive({0, 1, 7}), &first);
  EXPECT_EQ(matcher.arrive({0, 1, 7}), &second);
  EXPECT_EQ(matcher.arrive({0, 1, 7}), nullptr);
}

TEST(Matcher, AnySourceCompetesByPostingOrder) {
  Matcher matcher(4);
  Receive any(0, kAnySource, 7);
  Receive exact(0, 2, 7);
  Receive any_later(0, kAnySource, kAnyTag);
  matcher.post(&any);
  matcher.post(&exact);
  matcher.post(&any_later);
  // Expect: the wildcard first (posted first), then the exact one, then the later wildcard.
  EXPECT_EQ(matcher.arrive({0, 2, 7}), &any);
  EXPECT_EQ(matcher.arrive({0, 2, 7}), &exact);
  EXPECT_EQ(matcher.arrive({0, 2, 7}), &any_later);
}

TEST(Matcher, TagSourceAndContextAllCount) {
  Matcher matcher(40);
  Receive r(3, 1, 7);
  matcher.post(&r);
  // Expect: no match for another context, source (also one of the same bin) or tag.
  EXPECT_EQ(matcher.arrive({2, 1, 7}), nullptr);
  for (Rank other = 0; other < 40; ++other) {
    if (other != 1) {
      EXPECT_EQ(matcher.arrive({3, other, 7}), nullptr);
    }
  }
  EXPECT_EQ(matcher.arrive({3, 1, 8}), nullptr);
  EXPECT_EQ(matcher.arrive({3, 1, 7}), &r);
}

TEST(Matcher, UnexpectedMessagesComeOutInArrivalOrder) {
  Matcher matcher(4);
  Message from2(0, 2, 5);
  Message from1(0, 1, 5);
  Message from1_later(0, 1, 5);
  matcher.add(&from2);
  matcher.add(&from1);
  matcher.add(&from1_later);
  Receive exact(0, 1, kAnyTag);
  Receive any(0, kAnySource, 5);
  // Expect: probing takes nothing; the exact receive gets its source's first, the wildcard the
  // first of all that are left.
  EXPECT_EQ(matcher.probe({0, kAnySource, kAnyTag}), &from2);
  EXPECT_EQ(matcher.post(&exact), &from1);
  EXPECT_EQ(matcher.post(&any), &from2);
  EXPECT_EQ(matcher.probe({0, kAnySource, kAnyTag}), &from1_later);
  // Expect: a receive that found a message is not posted.
  EXPECT_EQ(matcher.arrive({0, 1, 9}), nullptr);
}

TEST(Matcher, WildcardTagSkipsMessagesOfOtherContexts) {
  Matcher matcher(4);
  Message other(9, 1, 5);
  matcher.add(&other);
  Receive r(0, kAnySource, kAnyTag);
  // Expect: posted, and the other context's message still there.
  EXPECT_EQ(matcher.post(&r), nullptr);
  EXPECT_EQ(matcher.probe({9, 1, 5}), &other);
}

TEST(Matcher, BinsDoubleWithoutChangingWhatMatches) {
  constexpr Rank kRanks = 500;
  Matcher matcher(kRanks);
  std::vector<std::unique_ptr<Receive>> receives;
  for (int twice = 0; twice < 2; ++twice) {
    for (Rank r = 0; r < kRanks; ++r) {
      receives.push_back(std::make_unique<Receive>(0, r, 7));
      EXPECT_EQ(matcher.post(receives.back().get()), nullptr);
    }
  }
  // Expect: whatever order the sources come in, the one posted first of each
  for (std::size_t twice = 0; twice < 2; ++twice) {
    for (Rank r = kRanks; r-- > 0;) {
      ASSERT_EQ(matcher.arrive({0, r, 7}), receives[twice * kRanks + r].get());
    }
  }
  std::vector<std::unique_ptr<Message>> messages;
  for (int twice = 0; twice < 2; ++twice) {
    for (Rank r = 0; r < kRanks; ++r) {
      messages.push_back(std::make_unique<Message>(0, r, 7));
      EXPECT_EQ(matcher.arrive({0, r, 7}), nullptr);
      matcher.add(messages.back().get());
    }
  }
  for (std::size_t twice = 0; twice < 2; ++twice) {
    for (Rank r = kRanks; r-- > 0;) {
      Receive receive(0, r, 7);
      ASSERT_EQ(matcher.post(&receive), messages[twice * kRanks + r].get());
    }
  }
}

}  // namespace
}  // namespace fairlead::mpi
