#include "fairlead/sim/event_queue.h"

#include <gtest/gtest.h>

#include <queue>
#include <vector>

#include "fairlead/base/prng.h"

namespace fairlead::sim {
namespace {

struct After {
  bool operator()(const Event& a, const Event& b) const { return before(b, a); }
};
using Reference = std::priority_queue<Event, std::vector<Event>, After>;

Event make(std::int64_t at, std::uint32_t node, std::uint64_t sequence) {
  return Event{Ps{at}, EventKey(node, sequence, 1), nullptr, nullptr, sequence, 0};
}

class Pair {
 public:
  explicit Pair(std::uint64_t seed, unsigned width_bits = EventQueue::kLeastWidthBits)
      : wheel(EventQueue::kDefaultMaxPending, width_bits), random(seed) {}

  void push(std::int64_t at) {
    const auto node = static_cast<std::uint32_t>(random.below(50));
    const Event event = make(at, node, sequence_++);
    wheel.push(event);
    reference.push(event);
  }
  // Returns whether both agree on the first event, which is taken out of both.
  bool pop_agrees() {
    const Event expected = reference.top();
    reference.pop();
    if (random.chance(0.1) && wheel.top().key != expected.key) return false;
    const Event got = wheel.pop();
    now = got.at.count;
    return got.at == expected.at && got.key == expected.key && got.a == expected.a &&
           wheel.size() == reference.size();
  }

  EventQueue wheel;
  Reference reference;
  Prng random;
  std::int64_t now = 0;

 private:
  std::uint64_t sequence_ = 0;
};

// Distances of every tier: ties, the current bucket, the wheel, around the horizon, far beyond.
std::int64_t distance(Prng& random, std::int64_t width) {
  const std::int64_t horizon = width << 14;
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
    case 2:
      return static_cast<std::int64_t>(random.below(3)) * width;
    case 3:
      return horizon - width +
             static_cast<std::int64_t>(random.below(2 * static_cast<std::uint64_t>(width)));
    case 4:
      return static_cast<std::int64_t>(random.below(1'000'000'000'000));
    default:
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(horizon)));
  }
}

class EventQueueOfWidth : public testing::TestWithParam<unsigned> {};

TEST_P(EventQueueOfWidth, OrdersLikeAPriorityQueue) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Pair pair(seed, GetParam());
    for (int i = 0; i < 400'000; ++i) {
      // The number pending swings between none and thousands.
      const bool filling = i / 20'000 % 2 == 0;
      if (pair.reference.empty() || pair.random.chance(filling ? 0.6 : 0.4)) {
        pair.push(pair.now + distance(pair.random, std::int64_t{1} << GetParam()));
      } else {
        ASSERT_TRUE(pair.pop_agrees()) << "seed " << seed << " operation " << i;
      }
    }
    while (!pair.reference.empty()) ASSERT_TRUE(pair.pop_agrees()) << "seed " << seed;
    // Expect: both are empty at the same moment.
    EXPECT_TRUE(pair.wheel.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, EventQueueOfWidth,
                         testing::Values(EventQueue::kLeastWidthBits, 14u,
                                         EventQueue::kMostWidthBits));

TEST(EventQueue, BurstsAtOneInstantKeepOrder) {
  Pair pair(7);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20'000; ++i) pair.push(pair.now);
    // Expect: what an executed event pushes for this very instant and the rest of the bucket is
    // merged in order.
    for (int i = 0; i < 20'000; ++i) {
      ASSERT_TRUE(pair.pop_agrees());
      if (i % 2 == 0) pair.push(pair.now + static_cast<std::int64_t>(pair.random.below(5000)));
    }
    while (!pair.reference.empty()) ASSERT_TRUE(pair.pop_agrees());
    pair.now += seconds(1).count;
  }
}

TEST(EventQueue, LookingAheadDoesNotFixTheFuture) {
  EventQueue queue;
  queue.push(make(1'000'000'000, 0, 0));
  EXPECT_EQ(queue.top().at, Ps{1'000'000'000});
  // Expect: events before the one looked at, in buckets the wheel has passed, still come first.
  queue.push(make(500, 0, 2));
  queue.push(make(600'000'000, 0, 1));
  queue.push(make(1'000'000'000, 1, 0));
  EXPECT_EQ(queue.pop().at, Ps{500});
  EXPECT_EQ(queue.pop().at, Ps{600'000'000});
  EXPECT_EQ(queue.pop().key.node(), 0u);
  EXPECT_EQ(queue.pop().key.node(), 1u);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, TiesGoByNodeThenSequenceWhateverTheKind) {
  EventQueue queue;
  const auto add = [&](std::uint32_t node, std::uint64_t sequence, std::uint8_t kind) {
    queue.push(Event{Ps{10}, EventKey(node, sequence, kind), nullptr, nullptr, 0, 0});
  };
  add(1, 1, 0);
  add(1, 0, 255);
  add(0, EventKey::kMaxSequence, 255);
  add(EventKey::kMaxNodes - 1, 0, 0);
  EXPECT_EQ(queue.pop().key, EventKey(0, EventKey::kMaxSequence, 255));
  EXPECT_EQ(queue.pop().key, EventKey(1, 0, 255));
  EXPECT_EQ(queue.pop().key, EventKey(1, 1, 0));
  EXPECT_EQ(queue.pop().key.node(), EventKey::kMaxNodes - 1);
}

TEST(EventQueue, WouldBeFirstAgreesWithTheOrder) {
  EventQueue queue;
  EXPECT_TRUE(queue.would_be_first(Ps{5}, EventKey(0, 0, 0)));
  queue.push(make(100'000'000'000, 3, 7));
  queue.push(make(50'000, 3, 8));
  EXPECT_TRUE(queue.would_be_first(Ps{49'999}, EventKey(9, 0, 0)));
  EXPECT_TRUE(queue.would_be_first(Ps{50'000}, EventKey(3, 7, 0)));
  EXPECT_FALSE(queue.would_be_first(Ps{50'000}, EventKey(3, 9, 0)));
  EXPECT_FALSE(queue.would_be_first(Ps{60'000}, EventKey(0, 0, 0)));
}

TEST(EventQueueDeathTest, BoundIsAnError) {
  EventQueue queue(1000);
  // Expect: a device that schedules without end is told so, not the out-of-memory killer.
  EXPECT_DEATH(for (std::uint64_t i = 0; i < 100'000; ++i) queue.push(make(INT64_MAX / 2, 0, i)),
               "schedules without end");
}

}  // namespace
}  // namespace fairlead::sim
