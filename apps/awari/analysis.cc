#include "apps/awari/analysis.h"

#include <algorithm>

#include "fairlead/run/fairlead.h"

namespace awari {
namespace {

// One position looked at forward: its board from its number (100), six moves of some 90 each,
// and their numbers (60). Fitted: with the others 13 stones take their sequential time on the PPro
// (table VII).
constexpr std::uint64_t kForwardOps = 1072;
// One that was decided: its board, and what there is to be undone before a pit has none.
constexpr std::uint64_t kDecidedOps = 200;
// One update: stones taken back (30), the move made to see that it captures nothing (120), its
// number (110), its place in a buffer (20), and at its owner the state, which no cache has (120).
constexpr std::uint64_t kUpdateOps = 400;

void declare(std::uint64_t ops) {
  if (fairlead_work != nullptr) fairlead_work(ops, 0, 0);
}

}  // namespace

void declare_forward(std::uint64_t positions) { declare(positions * kForwardOps); }

void declare_spread(std::uint64_t decided, std::uint64_t updates) {
  declare(decided * kDecidedOps + updates * kUpdateOps);
}

Analysis::Analysis(const Numbering& numbering, int stones, int bound, Share share,
                   const std::vector<Values>& smaller)
    : numbering_(numbering),
      stones_(stones),
      bound_(bound),
      share_(share),
      states_(share.count(numbering.positions(stones))) {
  for (std::uint32_t local = 0; local < states_.size(); ++local) {
    look_forward(local, smaller);
    declare_forward(1);
  }
}

void Analysis::look_forward(std::uint32_t local, const std::vector<Values>& smaller) {
  const Board board = numbering_.board_of(share_.number_of(local), stones_);
  int best = -stones_;
  std::uint8_t& state = states_[local];
  bool moves = false;
  for (int pit = 0; pit < kOwnPits; ++pit) {
    const Moved moved = move(board, pit);
    moves = moves || moved.captured >= 0;
    if (moved.captured == 0) ++state;
    if (moved.captured <= 0) continue;
    const int left = stones_ - moved.captured;
    const Values& values = smaller[static_cast<std::size_t>(left)];
    best = std::max(best, moved.captured - values[numbering_.number_of(moved.board, left)]);
  }
  if (!moves) best = value_of_end(board);
  if (best > -bound_) state |= kHolds;
  if (best >= bound_) {
    decide(local, false);
  } else if ((state & (kMoves | kHolds)) == 0) {
    decide(local, true);
  }
}

void Analysis::decide(std::uint32_t local, bool lost) {
  states_[local] |= lost ? kLost : kWon;
  decided_.push_back(Update::make(local, lost));
}

void Analysis::apply(Update update) {
  std::uint8_t& state = states_[update.local()];
  if ((state & (kWon | kLost)) != 0) return;
  if (update.lost()) return decide(update.local(), false);
  --state;
  if ((state & (kMoves | kHolds)) == 0) decide(update.local(), true);
}

void Analysis::raise(Values& values) const {
  for (std::size_t local = 0; local < values.size(); ++local) {
    if ((states_[local] & kWon) != 0) values[local] = static_cast<std::int8_t>(bound_);
    if ((states_[local] & kLost) != 0) values[local] = static_cast<std::int8_t>(-bound_);
  }
}

}  // namespace awari
