// A symmetric positive definite matrix and its factor, by columns of blocks: panel k is columns
// k * block and on, from the diagonal down, and lies on rank k % procs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/splitc/splitc.h"

namespace cholesky {

namespace splitc = fairlead::splitc;

// One element of the matrix, which does not depend on the number of ranks.
double element(std::size_t row, std::size_t column, std::size_t size);

class Matrix {
 public:
  // By all ranks, which fill in the lower triangle.
  Matrix(std::size_t size, std::size_t block);

  std::size_t panels() const { return panels_; }
  // By all ranks: makes L of the lower triangle of A, A = L * transposed L.
  void factor();
  // By all ranks: |A v - L (transposed L v)| / |A v| of one vector.
  double residual() const;
  // A sum over the bits of L, equal for any number of ranks.
  std::uint64_t checksum() const;

 private:
  std::size_t first(std::size_t panel) const { return panel * block_; }
  std::size_t width(std::size_t panel) const { return std::min(block_, size_ - first(panel)); }
  // Values of a panel: its columns one after the other, each from row first(panel) on.
  std::size_t values(std::size_t panel) const { return (size_ - first(panel)) * width(panel); }
  bool is_mine(std::size_t panel) const { return panel % splitc::procs() == splitc::my_proc(); }
  void factor_panel(std::size_t panel, double* values) const;
  void subtract(std::size_t done, const double* its, std::size_t panel, double* values) const;

  std::size_t size_;
  std::size_t block_;
  std::size_t panels_;
  splitc::spread_array<double> memory_;
};

}  // namespace cholesky
