// Conjugate gradients on the rows of a grid, shared out over the ranks in contiguous parts. The
// matrix is the 5-point Laplace operator; outside of the grid all is 0.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "apps/common/share.h"
#include "fairlead/systems/splitc/splitc.h"

namespace cg {

namespace splitc = fairlead::splitc;

// A value at each point of this rank's rows, with a row above and one below that are the
// neighbours', who store them here.
class Field {
 public:
  // By all ranks.
  explicit Field(std::int64_t grid);
  ~Field() { splitc::all_free(memory_); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  // This rank's points, row by row.
  std::span<double> own() const;
  // By all ranks: the neighbours' rows, as they are now. Between two calls all ranks meet.
  void exchange() const;
  // to = A * this, of this rank's points, after exchange().
  void multiply(std::span<double> to) const;

 private:
  splitc::global_ptr<double> row_of(std::uint32_t rank, std::int64_t row) const;

  std::int64_t grid_;
  apps::Rows rows_;
  splitc::global_ptr<double> memory_;  // at each rank: above, its rows, below
};

class Solver {
 public:
  explicit Solver(std::int64_t grid);
  // Until the residual is `tolerance` of the first one; returns how many iterations that took.
  std::int64_t solve(double tolerance, std::int64_t iterations_max);
  // |b - A x| / |b|, calculated anew.
  double residual();

 private:
  double dot(std::span<const double> a, std::span<const double> b) const;
  void declare(std::uint64_t ops_per_point, std::uint64_t fields) const;

  Field solution_;
  Field direction_;
  std::vector<double> right_side_;
  std::vector<double> rest_;
  std::vector<double> product_;
};

}  // namespace cg
