#include "fairlead/systems/mpi/matcher.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/prng.h"

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

// What the matcher does, by searching one list of each side.
class SlowMatcher {
 public:
  Message* post(Receive* receive) {
    for (std::size_t i = 0; i < early_.size(); ++i) {
      if (!fits(receive->envelope, early_[i]->envelope)) continue;
      Message* const found = early_[i];
      early_.erase(early_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    posted_.push_back(receive);
    return nullptr;
  }
  Receive* arrive(Message* message) {
    for (std::size_t i = 0; i < posted_.size(); ++i) {
      if (!fits(posted_[i]->envelope, message->envelope)) continue;
      Receive* const found = posted_[i];
      posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    early_.push_back(message);
    return nullptr;
  }
  const Message* probe(const Envelope& wanted) const {
    for (const Message* const each : early_) {
      if (fits(wanted, each->envelope)) return each;
    }
    return nullptr;
  }
  const std::vector<Receive*>& posted() const { return posted_; }
  void withdraw(std::size_t i) { posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i)); }

 private:
  static bool fits(const Envelope& wanted, const Envelope& message) {
    return wanted.context == message.context &&
           (wanted.peer == kAnySource || wanted.peer == message.peer) &&
           (wanted.tag == kAnyTag || wanted.tag == message.tag);
  }
  std::vector<Receive*> posted_;
  std::vector<Message*> early_;
};

// In any order, with few and with many of either side, and back again.
TEST(Matcher, MatchesAsASearchOfTheListsDoes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Prng prng(seed);
    const Rank ranks = seed % 3 == 0 ? 2 : 40;
    const int tags = seed % 2 == 0 ? 400 : 5;
    const std::uint64_t wildcards = seed % 5 == 0 ? 30 : 3;  // percent of the receives
    Matcher matcher(ranks);
    SlowMatcher slow;
    std::vector<std::unique_ptr<Receive>> receives;
    std::vector<std::unique_ptr<Message>> messages;
    const auto draw = [&](std::uint64_t below) { return prng.below(below); };
    for (int step = 0; step < 3000; ++step) {
      // Long stretches of more receives, then of more messages.
      const std::uint64_t of_ten = (step / 400) % 2 == 0 ? 8 : 2;
      const auto context = static_cast<std::uint32_t>(draw(2));
      Rank source = static_cast<Rank>(draw(ranks));
      int tag = static_cast<int>(draw(static_cast<std::uint64_t>(tags)));
      if (draw(10) < of_ten) {
        if (draw(100) < wildcards) source = kAnySource;
        if (draw(100) < wildcards) tag = kAnyTag;
        receives.push_back(std::make_unique<Receive>(context, source, tag));
        Receive* const receive = receives.back().get();
        ASSERT_EQ(matcher.probe(receive->envelope), slow.probe(receive->envelope)) << seed;
        ASSERT_EQ(matcher.post(receive), slow.post(receive)) << seed << " at " << step;
      } else {
        messages.push_back(std::make_unique<Message>(context, source, tag));
        Message* const message = messages.back().get();
        Receive* const expected = slow.arrive(message);
        ASSERT_EQ(matcher.arrive(message->envelope), expected) << seed << " at " << step;
        if (expected == nullptr) matcher.add(message);
      }
      if (draw(20) == 0 && !slow.posted().empty()) {
        const std::size_t i = draw(slow.posted().size());
        matcher.withdraw(slow.posted()[i]);
        slow.withdraw(i);
      }
    }
  }
}

// So many of one source that a search of each would take seconds, with each kind of wildcard.
TEST(Matcher, ManyOfOneSourceAreFoundAtOnce) {
  constexpr int kMany = 30000;
  for (const Rank source : {Rank{1}, kAnySource}) {
    Matcher matcher(2);
    std::vector<std::unique_ptr<Receive>> receives;
    for (int tag = 0; tag < kMany; ++tag) {
      receives.push_back(std::make_unique<Receive>(0, source, tag));
      ASSERT_EQ(matcher.post(receives.back().get()), nullptr);
    }
    for (int tag = kMany; tag-- > 0;) {
      ASSERT_EQ(matcher.arrive({0, 1, tag}), receives[static_cast<std::size_t>(tag)].get());
    }
    std::vector<std::unique_ptr<Message>> messages;
    for (int tag = 0; tag < kMany; ++tag) {
      messages.push_back(std::make_unique<Message>(0, 1, tag));
      matcher.add(messages.back().get());
    }
    for (int tag = kMany; tag-- > 0;) {
      Receive receive(0, source, tag);
      ASSERT_EQ(matcher.post(&receive), messages[static_cast<std::size_t>(tag)].get());
    }
    EXPECT_FALSE(matcher.any_early());
  }
}

}  // namespace
}  // namespace fairlead::mpi
