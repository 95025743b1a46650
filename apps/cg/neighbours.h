// What the solver asks of the system that its program is written for: memory of a field, the
// neighbours' rows, and sums over all ranks.
#pragma once
#include <cstdint>

#include "apps/common/share.h"

namespace cg {

class Neighbours {
 public:
  Neighbours(std::uint32_t rank, std::uint32_t ranks, std::int64_t grid)
      : rank_(rank), ranks_(ranks), grid_(grid) {}
  virtual ~Neighbours() = default;
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  std::int64_t grid() const { return grid_; }
  apps::Rows rows() const { return rows_of(rank_); }

  // By all ranks: a row above, this rank's rows, and a row below, all 0. It is there as long as
  // this object.
  virtual double* make_field() = 0;
  // By all ranks: the rows above and below become the neighbours'. Between two calls all ranks
  // meet in sum().
  virtual void exchange(double* field) = 0;
  // By all ranks.
  virtual double sum(double mine) = 0;

 protected:
  apps::Rows rows_of(std::uint32_t rank) const {
    return apps::share_of(static_cast<int>(rank), static_cast<int>(ranks_), grid_);
  }
  std::uint32_t rank() const { return rank_; }
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
};

}  // namespace cg
