// Awari: two players, six pits each, stones. Whoever is to move takes all stones of one of its pits
// and sows them, one a pit, around the board, past the pit they came from. If the last one makes
// two or three in a pit of the opponent's, these are captured, and so are those of the opponent's
// pits right before it that have two or three. An opponent without stones must be given some if
// that can be done. Who cannot move ends the game; each player has the stones of its own side.
//
// A position has a value for whoever is to move: the stones it will still capture less those of its
// opponent, if both play as well as can be. A game that never ends shares what is on the board.
#pragma once
#include <array>
#include <cstdint>

namespace awari {

constexpr int kPits = 12;
constexpr int kOwnPits = 6;
constexpr int kStonesMax = 15;

// Pits 0 to 5 are those of who is to move, 6 to 11 the opponent's, in the order of sowing.
using Board = std::array<std::int8_t, kPits>;

struct Moved {
  Board board;        // as the opponent sees it, who is to move now
  int captured = -1;  // -1: there is no such move
};

// Plays the stones in pit `pit` of the player's own.
Moved move(const Board& board, int pit);
// If the player cannot move: what it has more than the opponent in the end.
int value_of_end(const Board& board);

// Positions that a move without a capture leads from to `board`: at most one for each of the
// opponent's pits and number of stones there. Calls found(position).
template <class Found>
void for_each_before(const Board& board, Found&& found);

// Positions of so many stones, numbered from 0 in the order of their pits.
class Numbering {
 public:
  Numbering();
  std::uint32_t positions(int stones) const { return ways_[kPits][index(stones)]; }
  std::uint32_t number_of(const Board& board, int stones) const;
  Board board_of(std::uint32_t number, int stones) const;

 private:
  static std::size_t index(int stones) { return static_cast<std::size_t>(stones); }
  // ways_[p][s]: to put s stones into p pits.
  std::array<std::array<std::uint32_t, kStonesMax + 1>, kPits + 1> ways_{};
};

// --- Body of the template.

template <class Found>
void for_each_before(const Board& board, Found&& found) {
  // The player before sees its own pits first: where this board has the opponent's.
  Board turned;
  for (int i = 0; i < kPits; ++i) {
    turned[static_cast<std::size_t>(i)] = board[static_cast<std::size_t>((i + kOwnPits) % kPits)];
  }
  for (int pit = 0; pit < kOwnPits; ++pit) {
    if (turned[static_cast<std::size_t>(pit)] != 0) continue;
    Board before = turned;
    std::int8_t& from = before[static_cast<std::size_t>(pit)];
    for (int at = (pit + 1) % kPits;; at = (at + 1) % kPits) {
      if (at == pit) continue;
      // Its stones are taken back one by one, as long as there are any.
      std::int8_t& last = before[static_cast<std::size_t>(at)];
      if (last == 0) break;
      --last;
      ++from;
      const Moved there = move(before, pit);
      if (there.captured == 0) found(before);
    }
  }
}

}  // namespace awari
