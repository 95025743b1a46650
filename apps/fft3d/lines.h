// One-dimensional transforms of lines of a field.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/fft3d/problem.h"

namespace fft3d {

class Lines {
 public:
  // `n`, a power of two, numbers that lie `stride` apart, in place. Backward without the division.
  void transform(Complex* line, std::int64_t n, std::int64_t stride, bool forward);
  // A plane of rows of nx: all rows, then all columns.
  void transform_plane(const Size& size, Complex* plane, bool forward);
  // Simple operations since the last call.
  std::uint64_t take_operations() { return std::exchange(operations_, 0); }
  void count(std::uint64_t operations) { operations_ += operations; }

 private:
  void make_roots(std::int64_t n);

  std::vector<Complex> line_;
  std::vector<Complex> roots_;  // of unity, for lines of roots_n_
  std::int64_t roots_n_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace fft3d
