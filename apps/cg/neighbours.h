// What the solver asks of the system that its program is written for: memory of a field, the values
// of other ranks that it needs, and sums over all ranks.
#pragma once
#include <cstdint>

#include "apps/common/share.h"

namespace cg {

// grid: of Poisson's equation, in which a rank needs the rows beside its own. random: symmetric,
// positive definite and sparse, its entries anywhere, so that each rank needs the values of all.
enum class Matrix : std::uint8_t { grid, random };

class Neighbours {
 public:
  Neighbours(std::uint32_t rank, std::uint32_t ranks, std::int64_t grid, Matrix matrix)
      : rank_(rank), ranks_(ranks), grid_(grid), matrix_(matrix) {}
  virtual ~Neighbours() = default;
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  std::int64_t grid() const { return grid_; }
  Matrix matrix() const { return matrix_; }
  apps::Rows rows() const { return rows_of(rank_); }
  // Where this rank's rows begin in a field, in values.
  std::int64_t own_begin() const { return is_whole() ? rows().begin * grid_ : grid_; }

  // By all ranks: a row above, this rank's rows, and a row below, or, of a random matrix, the rows
  // of all; all 0. It is there as long as this object.
  virtual double* make_field() = 0;
  // By all ranks: the rows of others become theirs. Between two calls all ranks meet in sum().
  virtual void exchange(double* field) = 0;
  // By all ranks.
  virtual double sum(double mine) = 0;

 protected:
  apps::Rows rows_of(std::uint32_t rank) const {
    return apps::share_of(static_cast<int>(rank), static_cast<int>(ranks_), grid_);
  }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  bool is_whole() const { return matrix_ == Matrix::random; }
  bool has_rows() const { return rows().begin < rows().end; }
  bool has_above() const { return has_rows() && rows().begin > 0; }
  bool has_below() const { return has_rows() && rows().end < grid_; }
  // Where the rows of a field begin, its own first and last ones among them.
  double* above(double* field) const { return field; }
  double* first(double* field) const { return field + grid_; }
  double* last(double* field) const { return field + (rows().end - rows().begin) * grid_; }
  double* below(double* field) const { return last(field) + grid_; }

 private:
  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  const std::int64_t grid_;
  const Matrix matrix_;
};

}  // namespace cg
