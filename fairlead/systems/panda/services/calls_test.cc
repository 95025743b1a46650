// Answers to calls: the right one, one that comes twice, those of other ranks, services, calls.
#include "fairlead/systems/panda/services/calls.h"

#include <gtest/gtest.h>

#include <deque>

namespace fairlead::panda {
namespace {

using Verdict = Calls::Verdict;

constexpr Rank kTo = 4;
constexpr Service kService = 6;

struct Caller {
  explicit Caller(std::uint32_t first) : calls(first) {}

  Verdict answer(std::uint32_t slot, std::uint32_t generation, Rank source = kTo,
                 Service service = kService) {
    Received& message = messages.emplace_back();
    message.source = source;
    message.service = service;
    message.extra = slot_extra(slot, generation);
    return calls.arrived(&message);
  }

  Calls calls;
  std::deque<Received> messages;
};

TEST(Calls, TakesTheOneAnswer) {
  Caller caller(1);
  CallSlot& slot = caller.calls.begin(kTo, kService);
  EXPECT_EQ(caller.answer(slot.index, slot.generation), Verdict::taken);
  EXPECT_EQ(slot.answer, &caller.messages.back());
  EXPECT_EQ(slot.answered.ok, 1u);
  // Expect: no second one, neither before the caller took the first nor after.
  EXPECT_EQ(caller.answer(slot.index, slot.generation), Verdict::twice);
  const std::uint32_t before = slot.generation;
  caller.calls.end(slot);
  EXPECT_EQ(caller.answer(slot.index, before), Verdict::twice);
}

TEST(Calls, SeveralAtATime) {
  Caller caller(1);
  CallSlot& first = caller.calls.begin(kTo, kService);
  CallSlot& second = caller.calls.begin(kTo + 1, kService);
  EXPECT_NE(first.index, second.index);
  EXPECT_EQ(caller.answer(second.index, second.generation, kTo + 1), Verdict::taken);
  EXPECT_EQ(first.answer, nullptr);
  EXPECT_EQ(caller.answer(first.index, first.generation), Verdict::taken);
  caller.calls.end(first);
  caller.calls.end(second);
  // Expect: a slot is used again, by another generation.
  CallSlot& third = caller.calls.begin(kTo, kService);
  EXPECT_EQ(&third, &second);
  EXPECT_EQ(third.generation, 2u);
  EXPECT_EQ(third.answered.ok, 1u);
}

TEST(Calls, RefusesWhatIsNoneOfItsAnswers) {
  Caller caller(1);
  CallSlot& slot = caller.calls.begin(kTo, kService);
  // Expect: another slot, generation, rank or service.
  EXPECT_EQ(caller.answer(1, slot.generation), Verdict::foreign);
  EXPECT_EQ(caller.answer(slot.index, slot.generation + 1), Verdict::foreign);
  EXPECT_EQ(caller.answer(slot.index, 0), Verdict::foreign);
  EXPECT_EQ(caller.answer(slot.index, slot.generation, kTo + 1), Verdict::foreign);
  EXPECT_EQ(caller.answer(slot.index, slot.generation, kTo, kService + 1), Verdict::foreign);
  EXPECT_EQ(caller.answer(slot.index, slot.generation), Verdict::taken);
  const std::uint32_t after = slot.generation + 1;
  caller.calls.end(slot);
  // Expect: one that answers the next call of that slot before there is one.
  EXPECT_EQ(caller.answer(slot.index, after), Verdict::foreign);
}

TEST(Calls, GoesOnWhereGenerationsWrap) {
  Caller caller(UINT32_MAX);
  CallSlot& slot = caller.calls.begin(kTo, kService);
  EXPECT_EQ(slot.generation, UINT32_MAX);
  EXPECT_EQ(caller.answer(slot.index, UINT32_MAX), Verdict::taken);
  caller.calls.end(slot);
  // Expect: 0 is no call's.
  CallSlot& again = caller.calls.begin(kTo, kService);
  EXPECT_EQ(again.generation, 1u);
  EXPECT_EQ(caller.answer(again.index, UINT32_MAX), Verdict::twice);
  EXPECT_EQ(caller.answer(again.index, 0), Verdict::foreign);
  EXPECT_EQ(caller.answer(again.index, 1), Verdict::taken);
}

}  // namespace
}  // namespace fairlead::panda
