#include "fairlead/systems/dsm/record_board.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <span>
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

// Reads the board as a peer does. Before its get number n, from 0, of a read it calls between(n):
// what the board's rank does meanwhile.
class BoardReaderTest : public RecordBoardTest {
 protected:
  using Outcome = BoardReader::Outcome;

  Outcome read(std::span<const Notice> few = {}, bool put = false) {
    RecordBoard::Head at = head();
    int gets = 0;
    const Outcome outcome =
        reader_.read(at, few, put, records_, [&](std::size_t offset, void* to, std::size_t bytes) {
          if (between_) between_(gets);
          ++gets;
          std::memcpy(to, reinterpret_cast<const std::byte*>(memory_.data()) + offset, bytes);
        });
    gets_ = gets;
    return outcome;
  }

  BoardReader reader_;
  std::vector<Notice> records_;
  std::function<void(int)> between_;
  int gets_ = 0;
};

const std::vector<Notice> kOld{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}};
const std::vector<Notice> kNew{{1, 1, 5}, {2, 1, 5}, {3, 1, 5}};

TEST_F(BoardReaderTest, ReadsWhatIsBehindWhatItHasRead) {
  EXPECT_TRUE(board_.add(kOld));
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_EQ(records_, kOld);
  EXPECT_TRUE(board_.add(kNew));
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_EQ(records_, kNew);
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_TRUE(records_.empty());
  EXPECT_EQ(gets_, 0);
  // Expect: a generation is read from its beginning.
  board_.begin_generation(kNew);
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_EQ(records_, kNew);
  // Expect: the few that came with the head are taken where they are all that is new.
  EXPECT_TRUE(board_.add(kOld));
  EXPECT_EQ(read(kOld, true), Outcome::read);
  EXPECT_EQ(records_, kOld);
  EXPECT_EQ(gets_, 0);
}

// Two generations later other records stand in the place that is read.
TEST_F(BoardReaderTest, ReadsAgainWhatWasTorn) {
  board_.begin_generation(kOld);
  between_ = [&](int get) {
    if (get != 0) return;
    board_.begin_generation(kNew);
    board_.begin_generation(kNew);
    EXPECT_TRUE(board_.add(kOld));
  };
  EXPECT_EQ(read(), Outcome::read);
  std::vector<Notice> all = kNew;
  all.insert(all.end(), kOld.begin(), kOld.end());
  EXPECT_EQ(records_, all);
  EXPECT_EQ(reader_.generation(), 3u);
  EXPECT_EQ(reader_.count(), all.size());
  // Expect: records, head, then both again.
  EXPECT_EQ(gets_, 4);
}

// The first records of a generation may be new when the head behind them is read.
TEST_F(BoardReaderTest, ReadsAgainAsOftenAsGenerationsBegin) {
  board_.begin_generation(kOld);
  between_ = [&](int get) {
    if (get == 1 || get == 3) board_.begin_generation(kNew);
  };
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_EQ(records_, kNew);
  EXPECT_EQ(reader_.generation(), 3u);
  EXPECT_EQ(gets_, 6);
}

// What was read with the head may be torn as well; what the board's rank sent cannot be.
TEST_F(BoardReaderTest, ReadsAgainWhatCameWithTheHead) {
  board_.begin_generation({});
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_TRUE(board_.add(kOld));
  between_ = [&](int get) {
    if (get == 0) board_.begin_generation(kNew);
  };
  EXPECT_EQ(read(kOld), Outcome::read);
  EXPECT_EQ(records_, kNew);
  EXPECT_EQ(gets_, 3);
}

// What stands in the first generation stays until the barrier.
TEST_F(BoardReaderTest, ReadsTheFirstGenerationOnce) {
  EXPECT_TRUE(board_.add(kOld));
  between_ = [&](int get) {
    for (int i = 0; get == 0 && i < 3; ++i) board_.begin_generation(kNew);
  };
  EXPECT_EQ(read(), Outcome::read);
  EXPECT_EQ(records_, kOld);
  EXPECT_EQ(gets_, 1);
}

TEST_F(BoardReaderTest, AsksWhereTheBoardIsFullBeforeOrMeanwhile) {
  const std::vector<Notice> most(RecordBoard::kRecordsMax / 2 + 1, Notice{1, 1, 1});
  board_.begin_generation(kOld);
  board_.begin_generation(kOld);
  between_ = [&](int get) {
    if (get != 1) return;
    board_.begin_generation(kNew);
    board_.begin_generation(most);
  };
  EXPECT_EQ(read(), Outcome::full);
  between_ = nullptr;
  EXPECT_EQ(read(), Outcome::full);
  EXPECT_EQ(gets_, 0);
}

TEST_F(BoardReaderTest, RefusesHeadsThatNoBoardHas) {
  board_.begin_generation(kOld);
  EXPECT_EQ(read(), Outcome::read);
  RecordBoard::Head at = head();
  const auto get = [](std::size_t, void*, std::size_t) { FAIL() << "it was read"; };
  at.count = 2;
  EXPECT_EQ(reader_.read(at, {}, false, records_, get), Outcome::wrong);
  at = {at.epoch, false, 0, 3};
  EXPECT_EQ(reader_.read(at, {}, false, records_, get), Outcome::wrong);
  at = {at.epoch, false, 2, RecordBoard::kRecordsMax + 1};
  EXPECT_EQ(reader_.read(at, {}, false, records_, get), Outcome::wrong);
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
