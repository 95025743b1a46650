#include "apps/cg/solver.h"

#include <algorithm>
#include <cmath>

#include "apps/common/scramble.h"
#include "fairlead/run/fairlead.h"

namespace cg {
namespace {

// Operations of one point: five loads, the multiplication, four subtractions, the store, three of
// the loop.
constexpr std::uint64_t kMultiplyOps = 14;
// Two loads, multiplication, addition, two of the loop; an update has a store more.
constexpr std::uint64_t kDotOps = 6;
constexpr std::uint64_t kUpdateOps = 7;

apps::Rows rows_of(std::uint32_t rank, std::int64_t grid) {
  return apps::share_of(static_cast<int>(rank), static_cast<int>(splitc::procs()), grid);
}
std::size_t most_rows(std::int64_t grid) {
  const apps::Rows first = rows_of(0, grid);
  return static_cast<std::size_t>(first.end - first.begin);
}

}  // namespace

Field::Field(std::int64_t grid)
    : grid_(grid),
      rows_(rows_of(splitc::my_proc(), grid)),
      memory_(splitc::all_malloc<double>((most_rows(grid) + 2) * static_cast<std::size_t>(grid))) {}

splitc::global_ptr<double> Field::row_of(std::uint32_t rank, std::int64_t row) const {
  return memory_.on(rank) + (row - rows_of(rank, grid_).begin + 1) * grid_;
}

std::span<double> Field::own() const {
  const auto rows = static_cast<std::size_t>(rows_.end - rows_.begin);
  return {splitc::tolocal(memory_.on(splitc::my_proc())) + grid_,
          rows * static_cast<std::size_t>(grid_)};
}

void Field::exchange() const {
  if (rows_.begin == rows_.end) return;
  const std::uint32_t me = splitc::my_proc();
  const auto side = static_cast<std::size_t>(grid_);
  const std::span<double> mine = own();
  std::uint64_t bytes = 0;
  if (rows_.begin > 0) {
    splitc::bulk_store(row_of(me - 1, rows_.begin), mine.data(), side);
    bytes += side * sizeof(double);
  }
  if (rows_.end < grid_) {
    splitc::bulk_store(row_of(me + 1, rows_.end - 1), mine.data() + mine.size() - side, side);
    bytes += side * sizeof(double);
  }
  splitc::store_sync(bytes);
}

void Field::multiply(std::span<double> to) const {
  const std::span<double> mine = own();
  const auto side = static_cast<std::size_t>(grid_);
  const double* at = mine.data();
  for (std::size_t i = 0; i < to.size(); ++i, ++at) {
    const double left = i % side == 0 ? 0 : at[-1];
    const double right = i % side == side - 1 ? 0 : at[1];
    to[i] = 4 * *at - left - right - *(at - side) - at[side];
  }
}

Solver::Solver(std::int64_t grid) : solution_(grid), direction_(grid) {
  const apps::Rows rows = rows_of(splitc::my_proc(), grid);
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    for (std::int64_t column = 0; column < grid; ++column) {
      const std::uint64_t bits = apps::scramble(1, row, column);
      right_side_.push_back(static_cast<double>(bits >> 40) / 16777216.0 - 0.5);
    }
  }
  rest_ = right_side_;
  product_.resize(right_side_.size());
  std::copy(rest_.begin(), rest_.end(), direction_.own().begin());
}

void Solver::declare(std::uint64_t ops_per_point, std::uint64_t fields) const {
  if (fairlead_work == nullptr) return;
  const std::uint64_t points = rest_.size();
  fairlead_work(points * ops_per_point, points * fields * 8, points * 5 * 8);
}

double Solver::dot(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  declare(kDotOps, 2);
  return splitc::all_reduce_sum(sum);
}

std::int64_t Solver::solve(double tolerance, std::int64_t iterations_max) {
  const std::span<double> x = solution_.own();
  const std::span<double> p = direction_.own();
  double rest = dot(rest_, rest_);
  const double enough = rest * tolerance * tolerance;
  std::int64_t iteration = 0;
  for (; iteration < iterations_max && rest > enough; ++iteration) {
    direction_.exchange();
    direction_.multiply(product_);
    declare(kMultiplyOps, 2);
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
  splitc::barrier();
  solution_.exchange();
  solution_.multiply(product_);
  for (std::size_t i = 0; i < product_.size(); ++i) product_[i] = right_side_[i] - product_[i];
  return std::sqrt(dot(product_, product_) / dot(right_side_, right_side_));
}

}  // namespace cg
