// The rules of Connect Four on a grid of any small size: who first has four stones in a line, up,
// across or aslant, wins.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/systems/multigame/multigame.h"

namespace connect4 {

// Words of a position: the stones of who is to move; all stones. A column is height + 1 bits, of
// which the highest stays empty, so that no line runs from one column's top to the next one's foot.
class Grid : public fairlead::multigame::TwoPlayers {
 public:
  // columns * (rows + 1) <= 64.
  Grid(unsigned columns, unsigned rows, std::uint64_t ops_per_position)
      : columns_(columns), rows_(rows), ops_per_position_(ops_per_position) {}

  const char* name() const override { return "Connect Four"; }
  // A move is the number of the column; those in the middle come first.
  std::size_t moves(const fairlead::multigame::Position& from, std::uint8_t last,
                    std::span<fairlead::multigame::Move> to) const override;
  // A game that is lost is worth the less the sooner it was: -kWin + stones. Else lines of four
  // that only one side can still fill, by the stones they have.
  int evaluate(const fairlead::multigame::Position& position) const override;
  std::string text(const fairlead::multigame::Position& position) const override;
  std::uint64_t ops_per_position() const override { return ops_per_position_; }

  static constexpr int kWin = 30'000;

 private:
  bool four(std::uint64_t stones) const;
  std::uint64_t stone(unsigned column, unsigned row) const {
    return std::uint64_t{1} << (column * (rows_ + 1) + row);
  }

  unsigned columns_;
  unsigned rows_;
  std::uint64_t ops_per_position_;
};

}  // namespace connect4
