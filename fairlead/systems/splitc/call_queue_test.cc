#include "fairlead/systems/splitc/call_queue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace fairlead::splitc {
namespace {

struct Free {
  void operator()(CallQueue* queue) const { std::free(queue); }
};
// Memory of zeros, as a heap is.
std::unique_ptr<CallQueue, Free> empty_queue() {
  void* const memory = std::aligned_alloc(alignof(CallQueue), sizeof(CallQueue));
  std::memset(memory, 0, sizeof(CallQueue));
  return std::unique_ptr<CallQueue, Free>(static_cast<CallQueue*>(memory));
}

CallQueue::Claim put(CallQueue& queue, std::uint32_t source) {
  const CallQueue::Claim claim = queue.claim();
  EXPECT_NE(claim.place, nullptr);
  claim.place->source = source;
  CallQueue::send(*claim.place);
  return claim;
}
bool reached(const CallQueue::Claim& claim) { return claim.word->load() >= claim.value; }
bool has_come(const CallQueue& queue) { return queue.next_word().load() >= queue.next_value(); }

TEST(CallQueue, calls_are_taken_in_order_and_answered) {
  const auto queue = empty_queue();
  // Expect: nothing there, over several laps of the places.
  EXPECT_EQ(queue->next(), nullptr);
  for (std::uint32_t turn = 0; turn < 3 * CallQueue::kPlaces; turn += 3) {
    CallQueue::Claim claims[3];
    for (std::uint32_t i = 0; i < 3; ++i) claims[i] = put(*queue, turn + i);
    for (std::uint32_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(has_come(*queue));
      CallQueue::Place* const call = queue->next();
      ASSERT_NE(call, nullptr);
      // Expect: the oldest one.
      EXPECT_EQ(call->source, turn + i);
      EXPECT_FALSE(reached(claims[i]));
      CallQueue::answer(*call);
      EXPECT_TRUE(reached(claims[i]));
    }
    EXPECT_FALSE(has_come(*queue));
    EXPECT_EQ(queue->next(), nullptr);
    for (const CallQueue::Claim& claim : claims) CallQueue::release(*claim.place);
  }
}

TEST(CallQueue, is_full_until_an_answer_has_been_read) {
  const auto queue = empty_queue();
  // The owner does not look for a while.
  std::vector<CallQueue::Claim> claims;
  for (std::uint32_t i = 0; i < CallQueue::kPlaces; ++i) claims.push_back(put(*queue, i));
  // Expect: full, and a word that says when it is no more.
  const CallQueue::Claim refused = queue->claim();
  EXPECT_EQ(refused.place, nullptr);
  EXPECT_FALSE(reached(refused));
  CallQueue::Place* const first = queue->next();
  ASSERT_NE(first, nullptr);
  CallQueue::answer(*first);
  // Expect: the answer is not overwritten before its caller has read it.
  EXPECT_EQ(queue->claim().place, nullptr);
  CallQueue::release(*claims[0].place);
  EXPECT_TRUE(reached(refused));
  EXPECT_EQ(put(*queue, 100).place, first);
  EXPECT_EQ(queue->claim().place, nullptr);
  // Expect: calls without an answer are over once they are served.
  for (std::uint32_t i = 1; i < CallQueue::kPlaces; ++i) {
    CallQueue::Place* const call = queue->next();
    ASSERT_NE(call, nullptr);
    EXPECT_EQ(call->source, i);
    CallQueue::drop(*call);
  }
  EXPECT_EQ(queue->next()->source, 100u);
  EXPECT_EQ(queue->next(), nullptr);
  EXPECT_NE(queue->claim().place, nullptr);
}

TEST(CallQueue, a_call_that_is_being_written_is_not_taken_nor_passed) {
  const auto queue = empty_queue();
  const CallQueue::Claim slow = queue->claim();
  (void)put(*queue, 2);
  // Expect: calls are taken in the order of their places.
  EXPECT_EQ(queue->next(), nullptr);
  slow.place->source = 1;
  CallQueue::send(*slow.place);
  EXPECT_EQ(queue->next()->source, 1u);
  EXPECT_EQ(queue->next()->source, 2u);
}

TEST(CallQueue, many_callers_at_once) {
  const auto queue = empty_queue();
  constexpr std::uint32_t kCallers = 3;
  constexpr std::uint32_t kCalls = 2000;
  std::vector<std::thread> callers;
  for (std::uint32_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&queue, caller] {
      for (std::uint32_t i = 0; i < kCalls; ++i) {
        CallQueue::Claim claim;
        while ((claim = queue->claim()).place == nullptr) std::this_thread::yield();
        claim.place->source = caller;
        claim.place->words[0] = i;
        const bool waits = i % 2 == 0;
        claim.place->kind = waits ? 1 : 0;
        CallQueue::send(*claim.place);
        if (!waits) continue;
        while (!reached(claim)) std::this_thread::yield();
        EXPECT_EQ(claim.place->words[1], i + 1);
        CallQueue::release(*claim.place);
      }
    });
  }
  std::uint32_t seen[kCallers] = {};
  for (std::uint32_t taken = 0; taken < kCallers * kCalls;) {
    CallQueue::Place* const call = queue->next();
    if (call == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    // Expect: each caller's calls in its order, none twice.
    ASSERT_LT(call->source, kCallers);
    EXPECT_EQ(call->words[0], seen[call->source]++);
    call->words[1] = call->words[0] + 1;
    call->kind == 1 ? CallQueue::answer(*call) : CallQueue::drop(*call);
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace fairlead::splitc
