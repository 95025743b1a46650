#include "fairlead/systems/dsm/record_board.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace fairlead::dsm {
namespace {

class RecordBoardTest : public ::testing::Test {
 protected:
  Notice record(std::uint32_t number) const {
    Notice notice;
    std::memcpy(&notice,
                reinterpret_cast<const std::byte*>(memory_.data()) + RecordBoard::offset_of(number),
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
  board_.add(two);
  board_.add({});
  board_.add(one);
  EXPECT_EQ(head().count, 3u);
  EXPECT_FALSE(head().full);
  EXPECT_EQ(record(0), two[0]);
  EXPECT_EQ(record(1), two[1]);
  EXPECT_EQ(record(2), one[0]);
}

TEST_F(RecordBoardTest, ABarrierBeginsANewEpoch) {
  const Notice one[] = {{9, 2, 7}};
  const std::uint32_t before = head().epoch;
  board_.add(one);
  board_.begin_epoch();
  EXPECT_EQ(head().epoch, before + 1);
  EXPECT_EQ(head().count, 0u);
}

TEST_F(RecordBoardTest, WhatFindsNoRoomMakesItFullUntilTheNextBarrier) {
  const std::vector<Notice> many(RecordBoard::kRecordsMax - 1, Notice{1, 1, 1});
  const Notice two[] = {{3, 1, 2}, {4, 1, 2}};
  const Notice one[] = {{9, 2, 7}};
  board_.add(many);
  EXPECT_FALSE(head().full);
  // Expect: an interval that does not fit whole is left out whole, and so is what follows.
  board_.add(two);
  EXPECT_TRUE(head().full);
  board_.add(one);
  EXPECT_EQ(head().count, many.size());
  board_.begin_epoch();
  EXPECT_FALSE(head().full);
  board_.add(one);
  EXPECT_EQ(record(0), one[0]);
}

TEST(RecordBoardHead, ReadsWhatItWrites) {
  const RecordBoard::Head head =
      RecordBoard::Head::of(RecordBoard::Head{0x7fffffff, true, RecordBoard::kRecordsMax}.word());
  EXPECT_EQ(head.epoch, 0x7fffffffu);
  EXPECT_TRUE(head.full);
  EXPECT_EQ(head.count, RecordBoard::kRecordsMax);
}

}  // namespace
}  // namespace fairlead::dsm
