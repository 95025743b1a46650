// Retrograde analysis of the positions of one number of stones, those that are this rank's: which
// ones are worth at least a bound to who is to move (won), and which at most its negative (lost).
// What is decided is told to the positions before, by updates, until nothing changes; what is
// undecided then goes on for ever. Each bound 1, 2, ... is an analysis of its own, from the moves
// forward on: a byte a position is all that it keeps.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "apps/awari/board.h"

namespace awari {

using Values = std::vector<std::int8_t>;

// Positions are dealt out by their number in turn: neighbours in the game are on other ranks.
struct Share {
  std::uint32_t rank;
  std::uint32_t ranks;

  std::uint32_t owner_of(std::uint32_t number) const { return number % ranks; }
  std::uint32_t local_of(std::uint32_t number) const { return number / ranks; }
  std::uint32_t number_of(std::uint32_t local) const { return local * ranks + rank; }
  std::uint32_t count(std::uint32_t positions) const {
    return positions / ranks + (rank < positions % ranks ? 1 : 0);
  }
};

// To one position: a position that a move leads from it to was decided.
class Update {
 public:
  static Update make(std::uint32_t local, bool lost) {
    return Update(local << 1 | (lost ? 1u : 0u));
  }
  explicit Update(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits() const { return bits_; }  // as it travels
  std::uint32_t local() const { return bits_ >> 1; }
  bool lost() const { return (bits_ & 1) != 0; }

 private:
  std::uint32_t bits_;
};

class Analysis {
 public:
  // `smaller`: by number of stones, the values of all positions.
  Analysis(const Numbering& numbering, int stones, int bound, Share share,
           const std::vector<Values>& smaller);

  // From another rank. What that decides here waits for spread().
  void apply(Update update);
  // Tells the positions before of all that was decided and of what that decides here. Calls
  // send(owner, update) for those of other ranks.
  template <class Send>
  void spread(Send&& send);
  // At the end, into the values of this rank's positions, which are those of smaller bounds.
  void raise(Values& values) const;
  std::uint64_t updates() const { return updates_; }  // made here

 private:
  // Bits of a state. Its moves are those that do not lead to positions known as won; one that
  // holds it (by a capture, or the game's end) is better than lost for sure.
  static constexpr std::uint8_t kMoves = 0x0f;
  static constexpr std::uint8_t kHolds = 0x20;
  static constexpr std::uint8_t kWon = 0x40;
  static constexpr std::uint8_t kLost = 0x80;

  void look_forward(std::uint32_t local, const std::vector<Values>& smaller);
  void decide(std::uint32_t local, bool lost);

  const Numbering& numbering_;
  int stones_;
  int bound_;
  Share share_;
  std::vector<std::uint8_t> states_;  // by position
  std::vector<Update> decided_;       // positions of this rank; not yet spread
  std::uint64_t updates_ = 0;
};

// The virtual time that work takes (fairlead_work).
void declare_forward(std::uint64_t positions);
void declare_spread(std::uint64_t decided, std::uint64_t updates);

// --- Body of the template.

template <class Send>
void Analysis::spread(Send&& send) {
  while (!decided_.empty()) {
    const Update decided = decided_.back();
    decided_.pop_back();
    const std::uint64_t before = updates_;
    for_each_before(numbering_.board_of(share_.number_of(decided.local()), stones_),
                    [&](const Board& board) {
                      const std::uint32_t number = numbering_.number_of(board, stones_);
                      const Update update = Update::make(share_.local_of(number), decided.lost());
                      ++updates_;
                      const std::uint32_t owner = share_.owner_of(number);
                      owner == share_.rank ? apply(update) : send(owner, update);
                    });
    declare_spread(1, updates_ - before);
  }
}

}  // namespace awari
