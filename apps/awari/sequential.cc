#include "apps/awari/sequential.h"

#include <algorithm>

namespace awari {
namespace {

// What is known to be won and to be lost, of one position.
struct Proven {
  int won = 0;
  int lost = 0;
};

class Alone {
 public:
  Alone(const Numbering& numbering, int stones, const std::vector<Values>& smaller)
      : numbering_(numbering),
        stones_(stones),
        smaller_(smaller),
        proven_(numbering.positions(stones)) {}

  // Sweeps over all positions until nothing new is proven.
  Values run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t number = 0; number < proven_.size(); ++number) {
        changed = improve(number) || changed;
      }
    }
    Values values;
    for (const Proven& each : proven_) {
      values.push_back(static_cast<std::int8_t>(each.won > 0 ? each.won : -each.lost));
    }
    return values;
  }

 private:
  bool improve(std::uint32_t number) {
    const Board board = numbering_.board_of(number, stones_);
    int won = 0;
    int lost = stones_;
    bool moves = false;
    for (int pit = 0; pit < kOwnPits; ++pit) {
      const Moved moved = move(board, pit);
      if (moved.captured < 0) continue;
      moves = true;
      const int left = stones_ - moved.captured;
      const std::uint32_t next = numbering_.number_of(moved.board, left);
      if (moved.captured == 0) {
        won = std::max(won, proven_[next].lost);
        lost = std::min(lost, proven_[next].won);
      } else {
        const int value = moved.captured - smaller_[static_cast<std::size_t>(left)][next];
        won = std::max(won, value);
        lost = std::min(lost, -value);
      }
    }
    if (!moves) {
      won = value_of_end(board);
      lost = -won;
    }
    Proven& known = proven_[number];
    const Proven before = known;
    known = {std::max(won, 0), std::max(lost, 0)};
    return known.won != before.won || known.lost != before.lost;
  }

  const Numbering& numbering_;
  int stones_;
  const std::vector<Values>& smaller_;
  std::vector<Proven> proven_;
};

}  // namespace

std::vector<Values> analyse_alone(const Numbering& numbering, int stones) {
  std::vector<Values> all;
  for (int each = 0; each <= stones; ++each) all.push_back(Alone(numbering, each, all).run());
  return all;
}

}  // namespace awari
