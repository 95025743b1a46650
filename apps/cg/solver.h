// Conjugate gradients on the rows of a grid, shared out over the ranks in contiguous parts. The
// matrix is the 5-point Laplace operator, where outside of the grid all is 0, or a random one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "apps/cg/neighbours.h"

namespace cg {

class Solver {
 public:
  // By all ranks. `neighbours` outlives it.
  explicit Solver(Neighbours& neighbours);
  // Until the residual is `tolerance` of the first one; returns how many iterations that took.
  std::int64_t solve(double tolerance, std::int64_t iterations_max);
  // |b - A x| / |b|, calculated anew. All ranks have met since solve().
  double residual();

 private:
  // This rank's points of a field, row by row.
  std::span<double> own(double* field) const { return {field + begin_, points_}; }
  // The rows of this rank's points in a random matrix.
  void make_matrix();
  // to = A * field, of this rank's points, once the other ranks' rows are there.
  void multiply(const double* field, std::span<double> to) const;
  void multiply_grid(const double* field, std::span<double> to) const;
  void declare_product() const;
  double dot(std::span<const double> a, std::span<const double> b);
  void declare(std::uint64_t ops_per_point, std::uint64_t fields) const;

  Neighbours& neighbours_;
  const std::size_t side_;
  const std::size_t points_;
  const std::size_t begin_;  // of this rank's points in a field
  double* const solution_;
  double* const direction_;
  std::vector<double> right_side_;
  std::vector<double> rest_;
  std::vector<double> product_;
  // Beside the diagonal, of a random matrix.
  struct Entry {
    std::uint32_t column;
    double value;
  };
  std::vector<std::vector<Entry>> entries_;  // by this rank's point
  std::vector<double> diagonal_;
  std::uint64_t entry_count_ = 0;
};

}  // namespace cg
