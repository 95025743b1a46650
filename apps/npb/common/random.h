// The random numbers of the NAS Parallel Benchmarks (report RNR-94-007, section 2.3): the linear
// congruential generator x -> 5^13 x mod 2^46, whose numbers are x / 2^46, and its jump to the
// state behind any count of numbers, by which each rank begins in its own part of one sequence.
#pragma once
#include <cstdint>

namespace npb {

class Random {
 public:
  static constexpr std::uint64_t kFactor = 1220703125;  // 5^13
  // What all benchmarks but EP begin with.
  static constexpr std::uint64_t kSeed = 314159265;

  // state: odd, below 2^46.
  explicit Random(std::uint64_t state) : state_(state) {}

  // Greater than 0, less than 1.
  double next() {
    state_ = times(state_, kFactor);
    return static_cast<double>(state_) * 0x1p-46;
  }
  // As after so many calls of next(); takes log2(count) steps.
  void skip(std::uint64_t count) {
    for (std::uint64_t power = kFactor; count != 0; count >>= 1, power = times(power, power)) {
      if ((count & 1) != 0) state_ = times(state_, power);
    }
  }

  std::uint64_t state() const { return state_; }

 private:
  // Bits above the 64th of a product do not reach the 46 that count.
  static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    return a * b & ((std::uint64_t{1} << 46) - 1);
  }

  std::uint64_t state_;
};

}  // namespace npb
