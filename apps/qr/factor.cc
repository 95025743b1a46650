#include "apps/qr/factor.h"

#include <algorithm>
#include <cmath>

#include "apps/common/scramble.h"

namespace qr {
namespace {

double square_sum(const double* from, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += from[i] * from[i];
  return sum;
}

}  // namespace

double Matrix::cell(std::int64_t row, std::int64_t column) const {
  const auto random = static_cast<std::int64_t>(apps::scramble(1, row, column % distinct) >> 11);
  return static_cast<double>(random) * 0x1p-52 - 1.0;
}

Factor::Factor(int rank, int ranks, const Matrix& matrix)
    : rank_(rank), ranks_(ranks), n_(matrix.n) {
  for (std::int64_t j = rank; j < n_; j += ranks) {
    std::vector<double>& cells = columns_.emplace_back().cells;
    cells.resize(static_cast<std::size_t>(n_) + 1);
    for (std::int64_t i = 0; i < n_; ++i) cells[static_cast<std::size_t>(i)] = matrix.cell(i, j);
  }
  active_ = own_columns();
  renew_norms(0);
}

std::span<const double> Factor::eliminate(std::int64_t number, std::int64_t step) {
  Column& column = own(number);
  const auto count = static_cast<std::size_t>(n_ - step);
  double* const v = column.cells.data() + step;
  const double norm = std::sqrt(square_sum(v, count));
  const double diagonal = v[0] > 0 ? -norm : norm;  // the sign that cancels nothing below
  if (norm > 0) {
    v[0] -= diagonal;
    const double scale = 1.0 / std::sqrt(norm * std::fabs(v[0]));
    for (std::size_t i = 0; i < count; ++i) v[i] *= scale;
  }
  column.cells.back() = diagonal;
  column.done = true;
  --active_;
  return {v, count};
}

void Factor::reflect(std::span<const double> v, std::int64_t step) {
  for (Column& column : columns_) {
    if (column.done) continue;
    double* const cells = column.cells.data() + step;
    double product = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) product += v[i] * cells[i];
    for (std::size_t i = 0; i < v.size(); ++i) cells[i] -= product * v[i];
    column.norm2 = std::max(0.0, column.norm2 - cells[0] * cells[0]);
  }
}

Choice Factor::best() const {
  Choice best;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.done) continue;
    const int number = static_cast<int>(i) * ranks_ + rank_;
    if (column.norm2 > best.pivot.value) best.pivot = {column.norm2, number};
    // A norm that was 0 can lose nothing; one that became 0 has lost everything.
    const double loss = column.summed > 0 ? column.summed / std::max(column.norm2, 1e-300) : 1.0;
    if (loss > best.loss.value) best.loss = {loss, number};
  }
  return best;
}

void Factor::renew_norms(std::int64_t step) {
  for (Column& column : columns_) {
    if (column.done) continue;
    column.norm2 = square_sum(column.cells.data() + step, static_cast<std::size_t>(n_ - step));
    column.summed = column.norm2;
  }
}

}  // namespace qr
