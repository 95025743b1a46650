#include "apps/cg/solver.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "apps/common/scramble.h"
#include "fairlead/run/fairlead.h"

namespace cg {
namespace {

// Operations of one point: five loads, the multiplication, four subtractions, the store, three of
// the loop.
constexpr std::uint64_t kMultiplyOps = 14;
// Operations of an entry of a random matrix: three loads, multiplication, addition, two of the
// loop.
constexpr std::uint64_t kEntryOps = 7;
// Entries of a random matrix that begin at each of its points; as many end there in the mean.
constexpr std::int64_t kPairs = 5;
// What the diagonal has above the sum of the others, which makes the matrix positive definite.
constexpr double kExcess = 0.05;
// Two loads, multiplication, addition, two of the loop; an update has a store more.
constexpr std::uint64_t kDotOps = 6;
constexpr std::uint64_t kUpdateOps = 7;

}  // namespace

Solver::Solver(Neighbours& neighbours)
    : neighbours_(neighbours),
      side_(static_cast<std::size_t>(neighbours.grid())),
      points_(static_cast<std::size_t>(neighbours.rows().end - neighbours.rows().begin) * side_),
      begin_(static_cast<std::size_t>(neighbours.own_begin())),
      solution_(neighbours.make_field()),
      direction_(neighbours.make_field()) {
  const apps::Rows rows = neighbours_.rows();
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    for (std::int64_t column = 0; column < neighbours_.grid(); ++column) {
      const std::uint64_t bits = apps::scramble(1, row, column);
      right_side_.push_back(static_cast<double>(bits >> 40) / 16777216.0 - 0.5);
    }
  }
  rest_ = right_side_;
  product_.resize(points_);
  if (neighbours_.matrix() == Matrix::random) make_matrix();
  std::copy(rest_.begin(), rest_.end(), own(direction_).begin());
}

// Every rank goes through the pairs of all points, and keeps what is in its own rows: so both
// halves of the matrix are the same, and it is the same for any number of ranks.
void Solver::make_matrix() {
  const auto all = static_cast<std::int64_t>(side_ * side_);
  entries_.resize(points_);
  diagonal_.assign(points_, kExcess);
  const auto add = [this](std::int64_t row, std::int64_t column, double value) {
    const std::size_t mine = static_cast<std::size_t>(row) - begin_;
    if (static_cast<std::size_t>(row) < begin_ || mine >= points_) return;
    entries_[mine].push_back({static_cast<std::uint32_t>(column), value});
    diagonal_[mine] += std::abs(value);
    ++entry_count_;
  };
  for (std::int64_t row = 0; row < all; ++row) {
    for (std::int64_t pair = 0; pair < kPairs; ++pair) {
      const std::uint64_t bits = apps::scramble(2, row, pair);
      const auto column = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(all));
      if (column == row) continue;
      const double value = static_cast<double>(bits >> 40) / 16777216.0 - 0.5;
      add(row, column, value);
      add(column, row, value);
    }
  }
}

void Solver::multiply(const double* field, std::span<double> to) const {
  if (neighbours_.matrix() == Matrix::grid) return multiply_grid(field, to);
  for (std::size_t i = 0; i < to.size(); ++i) {
    double sum = diagonal_[i] * field[begin_ + i];
    for (const Entry& entry : entries_[i]) sum += entry.value * field[entry.column];
    to[i] = sum;
  }
}

void Solver::multiply_grid(const double* field, std::span<double> to) const {
  const double* at = field + side_;
  for (std::size_t i = 0; i < to.size(); ++i, ++at) {
    const double left = i % side_ == 0 ? 0 : at[-1];
    const double right = i % side_ == side_ - 1 ? 0 : at[1];
    to[i] = 4 * *at - left - right - *(at - side_) - at[side_];
  }
}

void Solver::declare(std::uint64_t ops_per_point, std::uint64_t fields) const {
  if (fairlead_work == nullptr) return;
  fairlead_work(points_ * ops_per_point, points_ * fields * 8, points_ * 5 * 8);
}

void Solver::declare_product() const {
  if (neighbours_.matrix() == Matrix::grid) return declare(kMultiplyOps, 2);
  if (fairlead_work == nullptr) return;
  const std::uint64_t bytes = entry_count_ * sizeof(Entry) + 2 * points_ * 8;
  fairlead_work(entry_count_ * kEntryOps, bytes, bytes + side_ * side_ * 8);
}

double Solver::dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  declare(kDotOps, 2);
  return neighbours_.sum(sum);
}

std::int64_t Solver::solve(double tolerance, std::int64_t iterations_max) {
  const std::span<double> x = own(solution_);
  const std::span<double> p = own(direction_);
  double rest = dot(rest_, rest_);
  const double enough = rest * tolerance * tolerance;
  std::int64_t iteration = 0;
  for (; iteration < iterations_max && rest > enough; ++iteration) {
    neighbours_.exchange(direction_);
    multiply(direction_, product_);
    declare_product();
    const double step = rest / dot(p, product_);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += step * p[i];
      rest_[i] -= step * product_[i];
    }
    declare(2 * kUpdateOps, 4);
    const double before = rest;
    rest = dot(rest_, rest_);
    const double share = rest / before;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = rest_[i] + share * p[i];
    declare(kUpdateOps, 2);
  }
  return iteration;
}

double Solver::residual() {
  neighbours_.exchange(solution_);
  multiply(solution_, product_);
  for (std::size_t i = 0; i < product_.size(); ++i) product_[i] = right_side_[i] - product_[i];
  const double rest = dot(product_, product_);
  return std::sqrt(rest / dot(right_side_, right_side_));
}

}  // namespace cg
