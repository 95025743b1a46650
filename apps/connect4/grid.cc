#include "apps/connect4/grid.h"

#include <bit>

namespace connect4 {

using fairlead::multigame::Move;
using fairlead::multigame::Position;

bool Grid::four(std::uint64_t stones) const {
  const unsigned column = rows_ + 1;
  for (const unsigned step : {1u, column, column + 1, column - 1}) {
    const std::uint64_t pairs = stones & (stones >> step);
    if ((pairs & (pairs >> (2 * step))) != 0) return true;
  }
  return false;
}

std::size_t Grid::moves(const Position& from, std::uint8_t, std::span<Move> to) const {
  const std::uint64_t mine = from.words[0];
  const std::uint64_t all = from.words[1];
  if (four(all ^ mine)) return 0;
  std::size_t count = 0;
  for (unsigned i = 0; i < columns_; ++i) {
    // The middle, then outwards to either side in turn.
    const unsigned middle = columns_ / 2;
    const unsigned off = (i + 1) / 2;
    const unsigned column = (i & 1) != 0 ? middle - off : middle + off;
    const std::uint64_t foot = stone(column, 0);
    // Adding the foot carries to the lowest empty place.
    const std::uint64_t placed = (all + foot) & ~all & ((stone(column, rows_)) - foot);
    if (placed == 0) continue;
    Move& made = to[count++];
    made.position.words = {all ^ mine, all | placed, 0};
    made.move = static_cast<std::uint8_t>(column);
  }
  return count;
}

int Grid::evaluate(const Position& position) const {
  const std::uint64_t mine = position.words[0];
  const std::uint64_t theirs = position.words[1] ^ mine;
  if (four(theirs)) return -kWin + std::popcount(position.words[1]);
  int value = 0;
  const int steps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
  for (const auto& step : steps) {
    for (int column = 0; column + 3 * step[0] < static_cast<int>(columns_); ++column) {
      for (int row = step[1] < 0 ? 3 : 0; row < static_cast<int>(rows_); ++row) {
        if (row + 3 * step[1] >= static_cast<int>(rows_)) break;
        std::uint64_t line = 0;
        for (int i = 0; i < 4; ++i) {
          line |= stone(static_cast<unsigned>(column + i * step[0]),
                        static_cast<unsigned>(row + i * step[1]));
        }
        const int of_mine = std::popcount(line & mine);
        const int of_theirs = std::popcount(line & theirs);
        if (of_theirs == 0) value += of_mine * of_mine;
        if (of_mine == 0) value -= of_theirs * of_theirs;
      }
    }
  }
  return value;
}

std::string Grid::text(const Position& position) const {
  const std::uint64_t mine = position.words[0];
  std::string text;
  for (unsigned row = rows_; row-- > 0;) {
    for (unsigned column = 0; column < columns_; ++column) {
      const std::uint64_t at = stone(column, row);
      text += (position.words[1] & at) == 0 ? '.' : (mine & at) != 0 ? 'x' : 'o';
    }
    if (row > 0) text += '/';
  }
  return text;
}

}  // namespace connect4
