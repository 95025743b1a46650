#include "apps/puzzle/sliding_tiles.h"

#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace puzzle {

using fairlead::multigame::kNoMove;
using fairlead::multigame::Move;
using fairlead::multigame::Position;

namespace {

// Moves are named by where the blank goes.
enum Direction : std::uint8_t { kUp, kLeft, kRight, kDown };

bool opposite(unsigned a, std::uint8_t b) { return b != kNoMove && a + b == 3; }

// splitmix64's steps.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

unsigned SlidingTiles::distance(unsigned tile, unsigned place) const {
  const auto apart = [](unsigned a, unsigned b) { return a > b ? a - b : b - a; };
  return apart(tile / width_, place / width_) + apart(tile % width_, place % width_);
}

std::size_t SlidingTiles::moves(const Position& from, std::uint8_t last, std::span<Move> to) const {
  const auto blank = static_cast<unsigned>(from.words[1]);
  const unsigned row = blank / width_;
  const unsigned column = blank % width_;
  const std::array<bool, 4> possible = {row > 0, column > 0, column + 1 < width_, row + 1 < width_};
  const std::array<unsigned, 4> target = {blank - width_, blank - 1, blank + 1, blank + width_};
  std::size_t count = 0;
  for (unsigned direction = kUp; direction <= kDown; ++direction) {
    if (!possible[direction] || opposite(direction, last)) continue;
    const unsigned place = target[direction];
    const std::uint64_t moved = tile(from, place);
    const auto which = static_cast<unsigned>(moved);
    Move& made = to[count++];
    made.position.words[0] =
        (from.words[0] & ~(std::uint64_t{15} << (4 * place))) | (moved << (4 * blank));
    made.position.words[1] = place;
    made.position.words[2] = from.words[2] + distance(which, blank) - distance(which, place);
    made.move = static_cast<std::uint8_t>(direction);
  }
  return count;
}

std::uint64_t SlidingTiles::hash(const Position& position) const {
  // The tiles say it all.
  return mixed(position.words[0] + 0x9e3779b97f4a7c15u);
}

std::string SlidingTiles::text(const Position& position) const {
  std::string text;
  for (unsigned place = 0; place < places_; ++place) {
    if (place > 0) text += ' ';
    text += std::to_string(tile(position, place));
  }
  return text;
}

std::optional<Position> SlidingTiles::position(std::span<const std::uint8_t> tiles) const {
  if (tiles.size() != places_) return std::nullopt;
  Position made;
  unsigned seen = 0;
  for (unsigned place = 0; place < places_; ++place) {
    const unsigned which = tiles[place];
    if (which >= places_ || (seen & (1u << which)) != 0) return std::nullopt;
    seen |= 1u << which;
    made.words[0] |= std::uint64_t{which} << (4 * place);
    if (which == 0) {
      made.words[1] = place;
    } else {
      made.words[2] += distance(which, place);
    }
  }
  return made;
}

std::optional<Position> SlidingTiles::position(std::string_view text) const {
  std::array<std::uint8_t, 16> tiles{};
  std::size_t count = 0;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    if (count == places_) return std::nullopt;
    const auto [rest, error] =
        std::from_chars(text.data(), text.data() + text.size(), tiles[count++]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  }
  return position({tiles.data(), count});
}

Position SlidingTiles::goal() const {
  std::array<std::uint8_t, 16> tiles{};
  for (std::uint8_t place = 0; place < 16; ++place) tiles[place] = place;
  return *position({tiles.data(), places_});
}

bool SlidingTiles::solvable(const Position& position) const {
  // A move changes the parity of the permutation of all places and the blank's distance from its
  // own, the first, by one each.
  unsigned cycles_parity = 0;
  unsigned seen = 0;
  for (unsigned first = 0; first < places_; ++first) {
    unsigned length = 0;
    for (unsigned at = first; (seen & (1u << at)) == 0; at = tile(position, at)) {
      seen |= 1u << at;
      ++length;
    }
    if (length > 0) cycles_parity ^= (length - 1) & 1;
  }
  const auto blank = static_cast<unsigned>(position.words[1]);
  return cycles_parity == ((blank / width_ + blank % width_) & 1);
}

Position SlidingTiles::scrambled(std::uint64_t seed, unsigned moves_wanted) const {
  Position at = goal();
  std::uint8_t last = kNoMove;
  std::array<Move, fairlead::multigame::kMovesMax> possible;
  for (unsigned i = 0; i < moves_wanted; ++i) {
    const std::size_t count = moves(at, last, possible);
    seed += 0x9e3779b97f4a7c15u;
    const Move& taken = possible[(mixed(seed) >> 32) % count];
    at = taken.position;
    last = taken.move;
  }
  return at;
}

}  // namespace puzzle
