// apps/awari's board: moves by hand, and that looking back is looking forward turned around.
#include "apps/awari/board.h"

#include <gtest/gtest.h>

#include <map>

namespace awari {
namespace {

TEST(AwariBoard, sows_past_the_pit_it_came_from) {
  // 12 stones: one for each other pit, and the twelfth in the one behind the first.
  const Moved moved = move({12}, 0);
  ASSERT_EQ(moved.captured, 0);
  EXPECT_EQ(moved.board, (Board{1, 1, 1, 1, 1, 1, 0, 2, 1, 1, 1, 1}));
}

TEST(AwariBoard, captures_twos_and_threes_before_the_last_one) {
  // Expect: pits 8 and 7, which become 2 and 3; pit 6 becomes 4 and keeps it from going on.
  const Moved moved = move({0, 0, 0, 0, 0, 3, 3, 2, 1, 5, 0, 0}, 5);
  EXPECT_EQ(moved.captured, 5);
  EXPECT_EQ(moved.board, (Board{4, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0}));
  // Expect: nothing of the own side is captured.
  EXPECT_EQ(move({2, 1, 1, 0, 0, 0, 1}, 0).captured, 0);
}

TEST(AwariBoard, feeds_an_opponent_without_stones) {
  const Board board{1, 0, 0, 0, 0, 2};
  EXPECT_EQ(move(board, 0).captured, -1);
  EXPECT_EQ(move(board, 5).captured, 0);
  EXPECT_EQ(move(board, 1).captured, -1);  // no stones
  EXPECT_EQ(value_of_end({1, 0, 0, 2}), 3);
  EXPECT_EQ(value_of_end({0, 0, 0, 0, 0, 0, 4}), -4);
}

TEST(AwariBoard, every_position_has_one_number) {
  const Numbering numbering;
  // C(24, 11), the paper's largest database.
  EXPECT_EQ(numbering.positions(13), 2'496'144u);
  for (int stones = 0; stones <= 5; ++stones) {
    Board last{};
    for (std::uint32_t number = 0; number < numbering.positions(stones); ++number) {
      const Board board = numbering.board_of(number, stones);
      ASSERT_EQ(numbering.number_of(board, stones), number);
      // Expect: in order, so that no two are the same.
      if (number > 0) {
        ASSERT_LT(last, board);
      }
      last = board;
    }
  }
}

TEST(AwariBoard, looking_back_is_looking_forward_turned_around) {
  const Numbering numbering;
  using Edges = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;
  for (const int stones : {1, 4}) {
    Edges forward;
    Edges back;
    for (std::uint32_t number = 0; number < numbering.positions(stones); ++number) {
      const Board board = numbering.board_of(number, stones);
      for (int pit = 0; pit < kOwnPits; ++pit) {
        const Moved moved = move(board, pit);
        if (moved.captured == 0) ++forward[{number, numbering.number_of(moved.board, stones)}];
      }
      for_each_before(board, [&](const Board& before) {
        ++back[{numbering.number_of(before, stones), number}];
      });
    }
    EXPECT_FALSE(forward.empty());
    EXPECT_EQ(forward, back);
  }
}

}  // namespace
}  // namespace awari
