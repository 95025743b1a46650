// The rules of the sliding-tile puzzles: 15 tiles in 4 x 4 places, or 8 in 3 x 3. Goal: the blank
// in the first place, the tiles in order behind it (Korf's). Bound: Manhattan distance.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fairlead/systems/multigame/multigame.h"

namespace puzzle {

// Words of a position: tiles, 4 bits a place from the low end, 0 the blank; place of the blank;
// Manhattan distance.
class SlidingTiles : public fairlead::multigame::OnePlayer {
 public:
  // `width`: 3 or 4.
  SlidingTiles(unsigned width, std::uint64_t ops_per_position)
      : width_(width), places_(width * width), ops_per_position_(ops_per_position) {}

  const char* name() const override { return width_ == 4 ? "the 15-puzzle" : "the 8-puzzle"; }
  std::size_t moves(const fairlead::multigame::Position& from, std::uint8_t last,
                    std::span<fairlead::multigame::Move> to) const override;
  std::uint16_t bound(const fairlead::multigame::Position& position) const override {
    return static_cast<std::uint16_t>(position.words[2]);
  }
  std::uint64_t hash(const fairlead::multigame::Position& position) const override;
  std::string text(const fairlead::multigame::Position& position) const override;
  std::uint64_t ops_per_position() const override { return ops_per_position_; }

  // Tiles place by place: each number once.
  std::optional<fairlead::multigame::Position> position(std::span<const std::uint8_t> tiles) const;
  // As above, as text: "14 13 15 7 ...", blanks or commas between the numbers.
  std::optional<fairlead::multigame::Position> position(std::string_view text) const;
  fairlead::multigame::Position goal() const;
  // Whether the goal can be reached: half of all positions can.
  bool solvable(const fairlead::multigame::Position& position) const;
  // `moves` random ones from the goal, none of which takes the one before it back.
  fairlead::multigame::Position scrambled(std::uint64_t seed, unsigned moves) const;

 private:
  std::uint8_t tile(const fairlead::multigame::Position& position, unsigned place) const {
    return static_cast<std::uint8_t>((position.words[0] >> (4 * place)) & 15);
  }
  unsigned distance(unsigned tile, unsigned place) const;

  unsigned width_;
  unsigned places_;
  std::uint64_t ops_per_position_;
};

// The first ten of the hundred positions of R. E. Korf, Depth-first iterative-deepening,
// Artificial Intelligence 27 (1985), and the lengths of their shortest solutions.
struct KorfPosition {
  std::uint8_t tiles[16];
  unsigned length;
};
inline constexpr KorfPosition kKorf[] = {
    {{14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3}, 57},
    {{13, 5, 4, 10, 9, 12, 8, 14, 2, 3, 7, 1, 0, 15, 11, 6}, 55},
    {{14, 7, 8, 2, 13, 11, 10, 4, 9, 12, 5, 0, 3, 6, 1, 15}, 59},
    {{5, 12, 10, 7, 15, 11, 14, 0, 8, 2, 1, 13, 3, 4, 9, 6}, 56},
    {{4, 7, 14, 13, 10, 3, 9, 12, 11, 5, 6, 15, 1, 2, 8, 0}, 56},
    {{14, 7, 1, 9, 12, 3, 6, 15, 8, 11, 2, 5, 10, 0, 4, 13}, 52},
    {{2, 11, 15, 5, 13, 4, 6, 7, 12, 8, 10, 1, 9, 3, 14, 0}, 52},
    {{12, 11, 15, 3, 8, 0, 4, 2, 6, 13, 9, 5, 14, 1, 10, 7}, 50},
    {{3, 14, 9, 11, 5, 4, 8, 2, 13, 12, 6, 7, 10, 1, 15, 0}, 46},
    {{13, 11, 8, 9, 0, 15, 7, 10, 4, 3, 6, 14, 5, 12, 2, 1}, 59},
};

}  // namespace puzzle
