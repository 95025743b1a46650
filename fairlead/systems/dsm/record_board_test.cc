#include "fairlead/systems/dsm/record_board.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace fairlead::dsm {
namespace {

class RecordBoardTest : public ::testing::Test {
 protected:
  Notice record(std::uint32_t number) const { return record_of(head().generation, number); }
  Notice record_of(std::uint32_t generation, std::uint32_t number) const {
    Notice notice;
    std::memcpy(&notice,
                reinterpret_cast<const std::byte*>(memory_.data()) +
                    RecordBoard::offset_of(generation, number),
                sizeof notice);
    return notice;
  }
  // As a peer reads it.
  RecordBoard::Head head() const { return RecordBoard::Head::of(memory_[0]); }

  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(RecordBoard::bytes() / 8 + 1);
  RecordBoard board_{memory_.data()};
};

TEST_F(RecordBoardTest, RecordsComeBehindEachOther) {
  const Notice two[] = {{3, 1, 1}, {4, 1, 1}};
  const Notice one[] = {{9, 2, 7}};
  EXPECT_TRUE(board_.add(two));
  EXPECT_TRUE(board_.add({}));
  EXPECT_TRUE(board_.add(one));
  EXPECT_EQ(head().count, 3u);
  EXPECT_FALSE(head().full);
  EXPECT_EQ(record(0), two[0]);
  EXPECT_EQ(record(1), two[1]);
  EXPECT_EQ(record(2), one[0]);
}

TEST_F(RecordBoardTest, ABarrierBeginsANewEpoch) {
  const Notice one[] = {{9, 2, 7}};
  const std::uint32_t before = head().epoch;
  EXPECT_TRUE(board_.add(one));
  board_.begin_epoch();
  EXPECT_EQ(head().epoch, before + 1);
  EXPECT_EQ(head().count, 0u);
}

TEST_F(RecordBoardTest, WhatFindsNoRoomBeginsANewGeneration) {
  const std::vector<Notice> many(RecordBoard::kRecordsMax - 1, Notice{1, 1, 1});
  const Notice two[] = {{3, 1, 2}, {4, 1, 2}};
  const Notice one[] = {{9, 2, 7}};
  const std::uint32_t epoch = head().epoch;
  EXPECT_TRUE(board_.add(many));
  // Expect: an interval that does not fit whole is left out whole.
  EXPECT_FALSE(board_.add(two));
  EXPECT_EQ(head().count, many.size());
  for (std::uint32_t generation = 1; generation < 5; ++generation) {
    board_.begin_generation(two);
    EXPECT_EQ(head().epoch, epoch);
    EXPECT_EQ(head().generation, generation);
    EXPECT_EQ(head().count, 2u);
    EXPECT_TRUE(board_.add(one));
    EXPECT_EQ(record(1), two[1]);
    EXPECT_EQ(record(2), one[0]);
    EXPECT_EQ(std::memcmp(board_.records(2), one, sizeof one), 0);
    // Expect: the generation before is there still, and so is the first one.
    EXPECT_EQ(record_of(generation - 1, 1), generation == 1 ? many[1] : two[1]);
    EXPECT_EQ(record_of(0, 2), many[2]);
  }
  board_.begin_epoch();
  EXPECT_EQ(head().generation, 0u);
  EXPECT_EQ(head().count, 0u);
}

TEST_F(RecordBoardTest, WhatWouldSoonFindNoRoomAgainMakesItFullUntilTheNextBarrier) {
  const std::vector<Notice> half(RecordBoard::kRecordsMax / 2, Notice{1, 1, 1});
  const std::vector<Notice> more(half.size() + 1, Notice{1, 1, 1});
  const Notice one[] = {{9, 2, 7}};
  board_.begin_generation(half);
  EXPECT_FALSE(head().full);
  board_.begin_generation(more);
  EXPECT_TRUE(head().full);
  // Expect: what was there stays, and what follows has no place to go.
  EXPECT_EQ(head().generation, 1u);
  EXPECT_TRUE(board_.add(one));
  EXPECT_EQ(head().count, half.size());
  board_.begin_epoch();
  EXPECT_FALSE(head().full);
  EXPECT_TRUE(board_.add(one));
  EXPECT_EQ(record(0), one[0]);
}

TEST_F(RecordBoardTest, EpochsBeginAnewWithOne) {
  while (head().epoch != RecordBoard::Head::kEpochs - 1) board_.begin_epoch();
  board_.begin_epoch();
  EXPECT_EQ(head().epoch, 1u);
}

TEST(RecordBoardHead, ReadsWhatItWrites) {
  for (const bool full : {false, true}) {
    const RecordBoard::Head head = RecordBoard::Head::of(
        RecordBoard::Head{65535, full, RecordBoard::kGenerations - 1, RecordBoard::kRecordsMax}
            .word());
    EXPECT_EQ(head.epoch, 65535u);
    EXPECT_EQ(head.full, full);
    EXPECT_EQ(head.generation, RecordBoard::kGenerations - 1);
    EXPECT_EQ(head.count, RecordBoard::kRecordsMax);
  }
}

}  // namespace
}  // namespace fairlead::dsm
