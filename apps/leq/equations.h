// A dense system of linear equations whose rows are shared out, and Jacobi's method on a rank's
// rows. Coefficients depend on their place alone: the same for any number of ranks.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/common/share.h"

namespace leq {

using apps::Rows;

class Equations {
 public:
  // Rows `own` of `count`. Coefficients are positive; the one on the diagonal is `dominance` times
  // the sum of its row's others, so that each iteration makes the error smaller by that factor.
  Equations(Rows own, std::int64_t count, double dominance);

  std::int64_t count() const { return count_; }
  Rows own() const { return own_; }
  // The next values of the own unknowns from all of the last ones. The largest change among them.
  double iterate(const std::vector<double>& from, std::vector<double>& own_next) const;
  // Largest difference of the two sides over the own rows, in units of the diagonal: the change
  // that the next iteration would make.
  double residual(const std::vector<double>& at) const;

 private:
  double next_of(std::int64_t row, const std::vector<double>& from) const;

  Rows own_;
  std::int64_t count_;
  std::vector<double> coefficients_;  // of the own rows, row by row
  std::vector<double> right_;         // right-hand sides
};

}  // namespace leq
