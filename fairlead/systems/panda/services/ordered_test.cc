// Ordered broadcasts that come in another order, twice, too far ahead, past the last number.
#include "fairlead/systems/panda/services/ordered.h"

#include <gtest/gtest.h>

#include <deque>

namespace fairlead::panda {
namespace {

using Verdict = Reorder::Verdict;

struct Line {
  explicit Line(std::uint64_t first) : reorder(first) {}

  Verdict arrive(std::uint64_t number) {
    Received& message = messages.emplace_back();
    message.extra = number;
    return reorder.arrived(&message, ready);
  }
  // What went on, oldest first.
  std::vector<std::uint64_t> take() {
    std::vector<std::uint64_t> numbers;
    for (; !ready.empty(); ready.pop_front()) numbers.push_back(ready.front()->extra);
    return numbers;
  }

  Reorder reorder;
  Ring<Received*> ready;
  std::deque<Received> messages;
};

using Numbers = std::vector<std::uint64_t>;

TEST(Reorder, PutsInOrder) {
  Line line(0);
  EXPECT_EQ(line.arrive(0), Verdict::in_order);
  EXPECT_EQ(line.arrive(3), Verdict::early);
  EXPECT_EQ(line.arrive(2), Verdict::early);
  EXPECT_EQ(line.take(), (Numbers{0}));
  // Expect: what waited goes on behind the one that was missing.
  EXPECT_EQ(line.arrive(1), Verdict::in_order);
  EXPECT_EQ(line.take(), (Numbers{1, 2, 3}));
  EXPECT_EQ(line.reorder.next(), 4u);
}

TEST(Reorder, DropsWhatComesTwice) {
  Line line(0);
  EXPECT_EQ(line.arrive(2), Verdict::early);
  // Expect: whether it waits or went on.
  EXPECT_EQ(line.arrive(2), Verdict::duplicate);
  EXPECT_EQ(line.arrive(0), Verdict::in_order);
  EXPECT_EQ(line.arrive(0), Verdict::duplicate);
  EXPECT_EQ(line.arrive(1), Verdict::in_order);
  EXPECT_EQ(line.arrive(2), Verdict::duplicate);
  EXPECT_EQ(line.take(), (Numbers{0, 1, 2}));
}

TEST(Reorder, KeepsAsManyAsTheWindowHas) {
  Line line(5);
  // From the far end, so that what waits moves to a wider table on its way.
  for (const std::uint64_t ahead : {Reorder::kWindow - 1, std::uint64_t{1}, std::uint64_t{40}}) {
    EXPECT_EQ(line.arrive(5 + ahead), Verdict::early) << ahead;
  }
  // Expect: one further is too far.
  EXPECT_EQ(line.arrive(5 + Reorder::kWindow), Verdict::too_far);
  for (std::uint64_t i = 0; i < Reorder::kWindow; ++i) {
    if (i == 1 || i == 40 || i == Reorder::kWindow - 1) continue;
    ASSERT_EQ(line.arrive(5 + i), Verdict::in_order) << i;
  }
  const Numbers all = line.take();
  ASSERT_EQ(all.size(), Reorder::kWindow);
  for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], 5 + i);
}

TEST(Reorder, WidensWhileSomeWait) {
  Line line(0);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    EXPECT_EQ(line.arrive(number), Verdict::early);
  }
  EXPECT_EQ(line.arrive(0), Verdict::in_order);
  EXPECT_EQ(line.take().size(), 101u);
}

TEST(Reorder, GoesOnWhereNumbersWrap) {
  Line line(UINT64_MAX - 1);
  EXPECT_EQ(line.arrive(1), Verdict::early);
  EXPECT_EQ(line.arrive(UINT64_MAX), Verdict::early);
  EXPECT_EQ(line.arrive(UINT64_MAX - 1), Verdict::in_order);
  EXPECT_EQ(line.arrive(UINT64_MAX), Verdict::duplicate);
  EXPECT_EQ(line.arrive(0), Verdict::in_order);
  EXPECT_EQ(line.take(), (Numbers{UINT64_MAX - 1, UINT64_MAX, 0, 1}));
}

}  // namespace
}  // namespace fairlead::panda
