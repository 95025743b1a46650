#include "apps/leq/equations.h"

#include <algorithm>
#include <cmath>

#include "apps/common/scramble.h"

namespace leq {
namespace {

constexpr std::uint64_t kCoefficients = 1;
constexpr std::uint64_t kSolution = 2;

// 1 <= value < 2.
double number(std::uint64_t seed, std::int64_t row, std::int64_t column) {
  return 1.0 + static_cast<double>(apps::scramble(seed, row, column) >> 11) * 0x1p-53;
}

}  // namespace

Equations::Equations(Rows own, std::int64_t count, double dominance)
    : own_(own),
      count_(count),
      coefficients_(static_cast<std::size_t>((own.end - own.begin) * count)),
      right_(static_cast<std::size_t>(own.end - own.begin)) {
  for (std::int64_t row = own.begin; row < own.end; ++row) {
    double* const mine = coefficients_.data() + (row - own.begin) * count;
    double others = 0.0;
    for (std::int64_t column = 0; column < count; ++column) {
      mine[column] = number(kCoefficients, row, column);
      if (column != row) others += mine[column];
    }
    // A single equation has no others.
    mine[row] = count > 1 ? dominance * others : 1.0;
    double right = 0.0;
    for (std::int64_t column = 0; column < count; ++column) {
      right += mine[column] * number(kSolution, 0, column);
    }
    right_[static_cast<std::size_t>(row - own.begin)] = right;
  }
}

double Equations::next_of(std::int64_t row, const std::vector<double>& from) const {
  const double* const mine = coefficients_.data() + (row - own_.begin) * count_;
  double sum = 0.0;
  for (std::int64_t column = 0; column < count_; ++column) {
    sum += mine[column] * from[static_cast<std::size_t>(column)];
  }
  // The diagonal's part of the sum is taken back: a loop without a branch.
  const double at = from[static_cast<std::size_t>(row)];
  return at + (right_[static_cast<std::size_t>(row - own_.begin)] - sum) / mine[row];
}

double Equations::iterate(const std::vector<double>& from, std::vector<double>& own_next) const {
  own_next.resize(static_cast<std::size_t>(own_.end - own_.begin));
  double change = 0.0;
  for (std::int64_t row = own_.begin; row < own_.end; ++row) {
    const double next = next_of(row, from);
    change = std::max(change, std::fabs(next - from[static_cast<std::size_t>(row)]));
    own_next[static_cast<std::size_t>(row - own_.begin)] = next;
  }
  return change;
}

double Equations::residual(const std::vector<double>& at) const {
  std::vector<double> next;
  return iterate(at, next);
}

}  // namespace leq
