// Postboxes as a receiver takes them: in order, again, late, and what is none.
#include "fairlead/systems/mpi/devices/rsm/in_queue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi::rsm {
namespace {

constexpr std::uint32_t kBoxes = 4;
constexpr std::uint64_t kPool = 4 * kBlockBytes;

struct Queue {
  std::vector<Box> area = std::vector<Box>(kBoxes + kPool / kBoxBytes);
  InQueue in{reinterpret_cast<const std::byte*>(area.data()), kBoxes,
             reinterpret_cast<const std::byte*>(area.data() + kBoxes), kPool, 32768};
  InQueue::Taken taken;

  void put(std::size_t slot, Flag flag, const void* body = nullptr, std::size_t size = 0) {
    if (size > 0) std::memcpy(area[slot].body, body, size);
    area[slot].flag = flag;
  }
  void put_head(std::size_t slot, std::uint32_t generation, Kind kind, std::uint64_t size,
                unsigned count, BoxKind box = BoxKind::head) {
    const Head head{{first_word(kind, 0), 7, 0, 0}, size};
    put(slot, {generation, box, static_cast<std::uint8_t>(count), 0}, &head, sizeof head);
  }
  void list(std::size_t slot, std::size_t at, std::initializer_list<std::uint16_t> numbers) {
    std::memcpy(area[slot].body + at, numbers.begin(), numbers.size() * sizeof(std::uint16_t));
  }
  InQueue::Look take() { return in.take(taken); }
};

TEST(InQueue, TakesWhatIsFilledInOrderAndOnce) {
  Queue q;
  EXPECT_EQ(q.take(), InQueue::Look::none);
  q.put(1, {1, BoxKind::more, 8, 0});
  // Expect: the second postbox waits for the first
  EXPECT_EQ(q.take(), InQueue::Look::none);
  q.put_head(0, 1, Kind::eager, 40, 32);
  ASSERT_EQ(q.take(), InQueue::Look::taken);
  EXPECT_TRUE(q.taken.begins);
  EXPECT_EQ(q.taken.bytes, 32u);
  EXPECT_EQ(q.taken.head.size, 40u);
  EXPECT_TRUE(q.in.in_message());
  ASSERT_EQ(q.take(), InQueue::Look::taken);
  EXPECT_FALSE(q.taken.begins);
  EXPECT_EQ(q.taken.bytes, 8u);
  EXPECT_FALSE(q.in.in_message());
  EXPECT_EQ(q.take(), InQueue::Look::none);
  EXPECT_EQ(q.in.taken(), 2u);
}

TEST(InQueue, ASlotThatComesAgainIsNoNewMessage) {
  Queue q;
  for (std::uint32_t i = 0; i < 2 * kBoxes; ++i) {
    q.put_head(i % kBoxes, i / kBoxes + 1, Kind::eager, 0, 0);
    EXPECT_EQ(q.take(), InQueue::Look::taken);
    q.put_head(i % kBoxes, i / kBoxes + 1, Kind::eager, 0, 0);
    EXPECT_EQ(q.take(), InQueue::Look::none);
  }
}

TEST(InQueue, BlocksAreFullButTheLast) {
  Queue q;
  q.put_head(0, 1, Kind::data, kBlockBytes + 10, 2, BoxKind::head_blocks);
  q.list(0, sizeof(Head), {2, 7});
  ASSERT_EQ(q.take(), InQueue::Look::taken);
  EXPECT_EQ(q.taken.blocks, 2u);
  EXPECT_EQ(q.taken.bytes, kBlockBytes + 10);
  EXPECT_EQ(q.taken.block[0], 2 * kSmallBlockBytes);
  EXPECT_EQ(q.taken.block[1], 7 * kSmallBlockBytes);
}

struct Wrong {
  const char* what;
  void (*put)(Queue& q);
  const char* says;
};
const Wrong kWrong[] = {
    {"generation", [](Queue& q) { q.put_head(0, 2, Kind::eager, 0, 0); }, "the time 2 of 1"},
    {"kind",
     [](Queue& q) {
       q.put(0, {1, static_cast<BoxKind>(9), 0, 0});
     },
     "its kind is 9"},
    {"more first",
     [](Queue& q) {
       q.put(0, {1, BoxKind::more, 1, 0});
     },
     "has not begun"},
    {"head inside",
     [](Queue& q) {
       q.put_head(0, 1, Kind::eager, 33, 32);
       (void)q.take();
       q.put_head(1, 1, Kind::eager, 0, 0);
     },
     "a message begins where 1 bytes are missing"},
    {"too long unasked", [](Queue& q) { q.put_head(0, 1, Kind::eager, 32769, 32); }, "32769"},
    {"no message", [](Queue& q) { q.put_head(0, 1, Kind::accept, 0, 0); }, "kind 5"},
    {"data of nothing", [](Queue& q) { q.put_head(0, 1, Kind::data, 0, 0); }, "0 bytes"},
    {"too few bytes", [](Queue& q) { q.put_head(0, 1, Kind::eager, 40, 31); }, "31 bytes"},
    {"no block", [](Queue& q) { q.put_head(0, 1, Kind::data, 40, 0, BoxKind::head_blocks); },
     "0 blocks"},
    {"more blocks than bytes",
     [](Queue& q) { q.put_head(0, 1, Kind::data, 40, 2, BoxKind::head_blocks); }, "2 blocks"},
    {"a block outside",
     [](Queue& q) {
       q.put_head(0, 1, Kind::data, 2049, 1, BoxKind::head_blocks);
       q.list(0, sizeof(Head), {7});
     },
     "block 7 of a pool"},
};

TEST(InQueue, WhatDoesNotFitEndsTheConnection) {
  for (const Wrong& wrong : kWrong) {
    Queue q;
    wrong.put(q);
    EXPECT_EQ(q.take(), InQueue::Look::broken) << wrong.what;
    EXPECT_NE(q.in.why().find(wrong.says), std::string::npos) << wrong.what << ": " << q.in.why();
    // Expect: it stays so
    EXPECT_EQ(q.take(), InQueue::Look::broken) << wrong.what;
  }
}

}  // namespace
}  // namespace fairlead::mpi::rsm
