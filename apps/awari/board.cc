#include "apps/awari/board.h"

namespace awari {
namespace {

std::int8_t& pit_of(Board& board, int pit) { return board[static_cast<std::size_t>(pit)]; }
int stones_in(const Board& board, int pit) { return board[static_cast<std::size_t>(pit)]; }

int stones_of(const Board& board, int first) {
  int sum = 0;
  for (int pit = first; pit < first + kOwnPits; ++pit) sum += stones_in(board, pit);
  return sum;
}

}  // namespace

Moved move(const Board& board, int pit) {
  Moved made;
  const int stones = stones_in(board, pit);
  if (stones == 0) return made;
  // Too few to get to the other side, where there are none.
  if (pit + stones < kOwnPits && stones_of(board, kOwnPits) == 0) return made;
  Board sown = board;
  pit_of(sown, pit) = 0;
  int at = pit;
  for (int left = stones; left > 0; --left) {
    at = (at + 1) % kPits;
    if (at == pit) at = (at + 1) % kPits;
    ++pit_of(sown, at);
  }
  made.captured = 0;
  for (; at >= kOwnPits && (stones_in(sown, at) == 2 || stones_in(sown, at) == 3); --at) {
    made.captured += stones_in(sown, at);
    pit_of(sown, at) = 0;
  }
  for (int i = 0; i < kPits; ++i) pit_of(made.board, i) = pit_of(sown, (i + kOwnPits) % kPits);
  return made;
}

int value_of_end(const Board& board) { return stones_of(board, 0) - stones_of(board, kOwnPits); }

Numbering::Numbering() {
  ways_[0][0] = 1;
  for (std::size_t pits = 1; pits <= kPits; ++pits) {
    for (std::size_t stones = 0; stones <= kStonesMax; ++stones) {
      ways_[pits][stones] = ways_[pits - 1][stones] + (stones > 0 ? ways_[pits][stones - 1] : 0);
    }
  }
}

// Before it are those that have fewer stones in its first pit, and so on: as many as there are ways
// to put more into the others, ways_[p][s] - ways_[p][s - x] together.
std::uint32_t Numbering::number_of(const Board& board, int stones) const {
  std::uint32_t number = 0;
  std::size_t left = index(stones);
  for (std::size_t pit = 0; pit + 1 < kPits; ++pit) {
    const auto here = static_cast<std::size_t>(board[pit]);
    const std::size_t pits = kPits - pit;
    // Positions of these pits less those with at least as many stones in the first one.
    number += ways_[pits][left] - ways_[pits][left - here];
    left -= here;
  }
  return number;
}

Board Numbering::board_of(std::uint32_t number, int stones) const {
  Board board{};
  std::size_t left = index(stones);
  for (std::size_t pit = 0; pit + 1 < kPits; ++pit) {
    const std::size_t pits = kPits - pit - 1;
    // With so many stones in this pit there are ways_[pits][left] positions.
    while (number >= ways_[pits][left]) {
      number -= ways_[pits][left];
      ++board[pit];
      --left;
    }
  }
  board[kPits - 1] = static_cast<std::int8_t>(left);
  return board;
}

}  // namespace awari
