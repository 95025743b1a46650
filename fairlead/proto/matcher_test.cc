// Receives by masks, which lie in no index, beside the others. What holds without masks is MPI's to
// test (systems/mpi/matcher_test.cc).
#include "fairlead/proto/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/proto/matcher_impl.h"

namespace fairlead::proto {
namespace {

constexpr std::uint32_t kAll = ~std::uint32_t{0};

struct TestEnvelope {
  std::uint32_t context = 0;
  std::uint32_t source = 0;
  std::uint32_t tag = 0;
  friend bool operator==(const TestEnvelope&, const TestEnvelope&) = default;
};
struct TestWanted {
  TestEnvelope envelope{};
  std::uint32_t source_mask = kAll;
  std::uint32_t tag_mask = kAll;
};
struct TestReceive {
  TestWanted wanted{};
  ListLink<TestReceive> link{};
  std::uint64_t order = 0;
  bool in_line = false;
};
struct TestMessage {
  TestEnvelope envelope{};
  ListLink<TestMessage> in_bin{};
  ListLink<TestMessage> in_all{};
  ListLink<TestMessage> by_envelope{};
  ListLink<TestMessage> by_source{};
  ListLink<TestMessage> by_tag{};
  ListLink<TestMessage> by_context{};
};

struct TestRules {
  using Receive = TestReceive;
  using Message = TestMessage;
  using Envelope = TestEnvelope;
  using Wanted = TestWanted;
  struct Hash {
    std::size_t operator()(const TestEnvelope& e) const {
      return e.context * 31u + e.source * 7u + e.tag;
    }
  };
  static constexpr bool kMasks = true;
  static bool plain(std::uint32_t mask) { return mask == 0 || mask == kAll; }
  static const TestWanted& wanted(const TestReceive& receive) { return receive.wanted; }
  static TestEnvelope envelope(const TestWanted& w) { return without(w.envelope, wild(w)); }
  static bool matches(const TestWanted& w, const TestEnvelope& m) {
    return w.envelope.context == m.context &&
           ((w.envelope.source ^ m.source) & w.source_mask) == 0 &&
           ((w.envelope.tag ^ m.tag) & w.tag_mask) == 0;
  }
  static unsigned wild(const TestWanted& w) {
    if (!plain(w.source_mask) || !plain(w.tag_mask)) return kMasked;
    return (w.source_mask == 0 ? kWildSource : 0u) | (w.tag_mask == 0 ? kWildTag : 0u);
  }
  static bool in_one_bin(const TestWanted& w) { return w.source_mask == kAll && plain(w.tag_mask); }
  static TestEnvelope without(TestEnvelope e, unsigned wild) {
    if ((wild & kWildSource) != 0) e.source = 0;
    if ((wild & kWildTag) != 0) e.tag = 0;
    return e;
  }
  static std::size_t bin(const TestEnvelope& e) { return e.source ^ e.context * 5u; }
  static bool same_bin(const TestWanted& w, const TestEnvelope& m) {
    return w.envelope.source == m.source && w.envelope.context == m.context;
  }
  static void posted(TestReceive& receive) { receive.in_line = true; }
};
using TestMatcher = Matcher<TestRules>;

TEST(Matcher, ReceivesByMasksCompeteByPostingOrder) {
  TestMatcher matcher(4);
  TestReceive low{{{0, 0, 0x02}, 0, 0x0f}};
  TestReceive exact{{{0, 1, 0x12}}};
  TestReceive odd{{{0, 1, 0x10}, 1, 0}};  // from odd sources
  for (TestReceive* const each : {&low, &exact, &odd}) EXPECT_EQ(matcher.post(each), nullptr);
  EXPECT_TRUE(odd.in_line);
  // Expect: what fits, in the order of posting; then none
  EXPECT_EQ(matcher.arrive({0, 1, 0x12}), &low);
  EXPECT_EQ(matcher.arrive({0, 2, 0x12}), nullptr);
  EXPECT_EQ(matcher.arrive({0, 1, 0x12}), &exact);
  EXPECT_EQ(matcher.arrive({0, 3, 7}), &odd);
  EXPECT_EQ(matcher.arrive({0, 3, 7}), nullptr);
}

// Tag 0 is no wildcard where the whole tag counts.
TEST(Matcher, AnExactZeroIsNoWildcardInAnIndex) {
  TestMatcher matcher(4);
  std::vector<std::unique_ptr<TestReceive>> receives;
  for (std::uint32_t tag = 0; tag < 40; ++tag) {
    receives.push_back(std::make_unique<TestReceive>(TestReceive{{{0, 1, tag}}}));
    matcher.post(receives.back().get());
  }
  EXPECT_EQ(matcher.arrive({0, 1, 39}), receives[39].get());  // a long search: indexed from here on
  EXPECT_EQ(matcher.arrive({0, 1, 41}), nullptr);
  EXPECT_EQ(matcher.arrive({0, 1, 0}), receives[0].get());
}

bool fits(const TestReceive& receive, const TestMessage& message) {
  return TestRules::matches(receive.wanted, message.envelope);
}

// Against a search of one list of each side, with few masks, so that indexes begin and end.
TEST(Matcher, MatchesAsASearchOfTheListsDoesWithMasks) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng prng(seed);
    const auto draw = [&](std::uint64_t below) {
      return static_cast<std::uint32_t>(prng.below(below));
    };
    TestMatcher matcher(8, seed % 3 == 0 ? 1 : TestMatcher::kFewBins);
    std::vector<std::unique_ptr<TestReceive>> receives;
    std::vector<std::unique_ptr<TestMessage>> messages;
    std::vector<TestReceive*> posted;
    std::vector<TestMessage*> early;
    for (int step = 0; step < 2000; ++step) {
      const std::uint32_t of_ten = (step / 300) % 2 == 0 ? 8 : 2;
      const TestEnvelope envelope{draw(2), draw(6), draw(60)};
      if (draw(10) < of_ten) {
        TestReceive made{{envelope}};
        if (draw(20) == 0) made.wanted.source_mask = 0;
        if (draw(20) == 0) made.wanted.tag_mask = 0;
        if (draw(seed % 2 == 0 ? 200 : 20) == 0) made.wanted.tag_mask = 7;
        if (draw(200) == 0) made.wanted.source_mask = 1;
        receives.push_back(std::make_unique<TestReceive>(made));
        TestReceive* const receive = receives.back().get();
        const auto found = std::find_if(early.begin(), early.end(), [&](const TestMessage* each) {
          return fits(*receive, *each);
        });
        TestMessage* const expected = found == early.end() ? nullptr : *found;
        ASSERT_EQ(matcher.probe(receive->wanted), expected) << seed << " at " << step;
        ASSERT_EQ(matcher.post(receive), expected) << seed << " at " << step;
        expected == nullptr ? posted.push_back(receive) : void(early.erase(found));
      } else {
        messages.push_back(std::make_unique<TestMessage>());
        TestMessage* const message = messages.back().get();
        message->envelope = envelope;
        const auto found = std::find_if(posted.begin(), posted.end(), [&](const TestReceive* each) {
          return fits(*each, *message);
        });
        TestReceive* const expected = found == posted.end() ? nullptr : *found;
        ASSERT_EQ(matcher.arrive(envelope), expected) << seed << " at " << step;
        if (expected != nullptr) {
          posted.erase(found);
        } else {
          matcher.add(message);
          early.push_back(message);
        }
      }
      if (draw(20) == 0 && !posted.empty()) {
        const auto at = posted.begin() + draw(posted.size());
        matcher.withdraw(*at);
        posted.erase(at);
      }
    }
  }
}

}  // namespace
}  // namespace fairlead::proto
