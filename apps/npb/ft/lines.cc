#include "apps/npb/ft/lines.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace npb {

Lines::Lines(std::size_t longest)
    : longest_(longest), roots_(longest / 2), from_(longest * kTogether), to_(from_.size()) {
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    const double angle =
        -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(longest);
    roots_[k] = {std::cos(angle), std::sin(angle)};
  }
}

void Lines::transform(Complex* data, std::size_t n, std::size_t element_stride, std::size_t count,
                      std::size_t line_stride, Direction direction) {
  for (std::size_t line = 0; line < count; line += kTogether) {
    const std::size_t lines = std::min(kTogether, count - line);
    Complex* const first = data + line * line_stride;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < lines; ++j) {
        from_[i * kTogether + j] = first[i * element_stride + j * line_stride];
      }
    }
    const Complex* const done = transform_gathered(n, direction);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < lines; ++j) {
        first[i * element_stride + j * line_stride] = done[i * kTogether + j];
      }
    }
  }
  pass(n, count);
}

void Lines::pass(std::size_t n, std::size_t count) {
  for (std::size_t half = n / 2; half != 0; half /= 2) butterflies_ += n / 2 * count;
}

// Stockham's: every stage goes from one array to the other, and the last leaves the frequencies in
// order. Returns the array in which they are.
Complex* Lines::transform_gathered(std::size_t n, Direction direction) {
  const double sign = direction == Direction::forward ? 1 : -1;
  Complex* from = from_.data();
  Complex* to = to_.data();
  std::size_t together = kTogether;  // numbers that have the same root in a stage
  for (std::size_t half = n / 2; half != 0; half /= 2, together *= 2) {
    for (std::size_t p = 0; p < half; ++p) {
      const Complex root = roots_[p * (longest_ / 2 / half)];
      const double re = root.re;
      const double im = sign * root.im;
      const Complex* __restrict const low = from + p * together;
      const Complex* __restrict const high = low + half * together;
      Complex* __restrict const sums = to + 2 * p * together;
      Complex* __restrict const differences = sums + together;
      for (std::size_t q = 0; q < together; ++q) {
        const double difference_re = low[q].re - high[q].re;
        const double difference_im = low[q].im - high[q].im;
        sums[q] = {low[q].re + high[q].re, low[q].im + high[q].im};
        differences[q] = {difference_re * re - difference_im * im,
                          difference_re * im + difference_im * re};
      }
    }
    std::swap(from, to);
  }
  return from;
}

}  // namespace npb
