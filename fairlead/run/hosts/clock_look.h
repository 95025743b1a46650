// How far the clock of another host is before this one's, from questions and answers: the answer
// says what the other's clock showed somewhere between the two. Times are nanoseconds of
// CLOCK_MONOTONIC.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace fairlead::run {

class ClockLook {
 public:
  // Adds a round trip: when it began and the answer came, by this clock, and what the answer says.
  void add(std::int64_t asked, std::int64_t answered, std::int64_t there) {
    // Halves first: the sum of two may be too large.
    const Look look{there - (asked / 2 + answered / 2), (answered - asked + 1) / 2};
    if (!settled_) {
      if (look.error < first_.error) first_ = look;
      last_ = first_;
    } else if (look.error <= kWorst * std::max<std::int64_t>(first_.error, 1)) {
      last_ = look;
    }
  }
  // The difference is `ahead` from now on, that of the shortest round trip so far; what is added
  // later tells how it moves.
  void settle(bool same_clock) {
    settled_ = true;
    // The answers do not contradict.
    if (same_clock && std::abs(first_.ahead) <= first_.error) same_clock_ = true;
  }

  std::int64_t ahead() const { return same_clock_ ? 0 : first_.ahead; }
  // It was never further off than this, as far as was looked.
  std::int64_t error() const {
    if (same_clock_) return 0;
    return std::max(first_.error, std::abs(last_.ahead - first_.ahead) + last_.error);
  }

 private:
  // A longer round trip, by so much, says too little.
  static constexpr std::int64_t kWorst = 4;

  struct Look {
    std::int64_t ahead = 0;
    std::int64_t error = std::numeric_limits<std::int64_t>::max();
  };
  Look first_;
  Look last_;
  bool settled_ = false;
  bool same_clock_ = false;
};

}  // namespace fairlead::run
