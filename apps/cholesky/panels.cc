#include "apps/cholesky/panels.h"

#include <bit>
#include <cmath>
#include <vector>

#include "apps/common/scramble.h"
#include "fairlead/run/fairlead.h"

namespace cholesky {
namespace {

// Operations of one step: two loads, multiplication, subtraction, the store, a share of the loop.
constexpr std::uint64_t kStepOps = 6;

double number(std::uint64_t bits) { return static_cast<double>(bits >> 40) / 16777216.0; }

}  // namespace

double element(std::size_t row, std::size_t column, std::size_t size) {
  const auto larger = static_cast<std::int64_t>(std::max(row, column));
  const auto smaller = static_cast<std::int64_t>(std::min(row, column));
  const double value = number(apps::scramble(3, larger, smaller));
  return row == column ? value + static_cast<double>(size) : value;
}

void Panels::fill(std::size_t panel, double* values) const {
  for (std::size_t column = first(panel); column < first(panel) + width(panel); ++column) {
    for (std::size_t row = first(panel); row < size_; ++row) {
      *values++ = element(row, column, size_);
    }
  }
}

void Panels::factor(std::size_t panel, double* values) const {
  const std::size_t rows = this->rows(panel);
  for (std::size_t column = 0; column < width(panel); ++column) {
    double* const its = values + column * rows;
    const double root = std::sqrt(its[column]);
    for (std::size_t row = column; row < rows; ++row) its[row] /= root;
    for (std::size_t next = column + 1; next < width(panel); ++next) {
      double* const others = values + next * rows;
      const double factor = its[next];
      for (std::size_t row = next; row < rows; ++row) others[row] -= factor * its[row];
    }
  }
  if (fairlead_work != nullptr) {
    const std::uint64_t steps = rows * width(panel) * width(panel) / 2;
    fairlead_work(steps * kStepOps, rows * width(panel) * 8, rows * width(panel) * 8);
  }
}

void Panels::subtract(std::size_t done, const double* its, std::size_t panel,
                      double* values) const {
  const std::size_t rows = this->rows(panel);
  const std::size_t its_rows = this->rows(done);
  const std::size_t skip = first(panel) - first(done);
  for (std::size_t column = 0; column < width(panel); ++column) {
    double* const to = values + column * rows;
    for (std::size_t k = 0; k < width(done); ++k) {
      const double* const from = its + k * its_rows + skip;
      const double factor = from[column];
      for (std::size_t row = column; row < rows; ++row) to[row] -= factor * from[row];
    }
  }
  if (fairlead_work != nullptr) {
    const std::uint64_t steps = rows * width(panel) * width(done);
    fairlead_work(steps * kStepOps, rows * (width(panel) + width(done)) * 8,
                  rows * (width(panel) + width(done)) * 8);
  }
}

double Panels::residual(const std::function<void(std::size_t panel, double* to)>& fetch) const {
  std::vector<double> v(size_);
  std::vector<double> product(size_);  // L (transposed L v)
  std::vector<double> panel(values_most());
  for (std::size_t i = 0; i < size_; ++i) v[i] = number(apps::scramble(i + 11)) - 0.5;
  for (std::size_t k = 0; k < count_; ++k) {
    fetch(k, panel.data());
    for (std::size_t column = 0; column < width(k); ++column) {
      const double* const its = panel.data() + column * rows(k);
      double sum = 0;
      for (std::size_t row = column; row < rows(k); ++row) sum += its[row] * v[first(k) + row];
      for (std::size_t row = column; row < rows(k); ++row)
        product[first(k) + row] += its[row] * sum;
    }
  }
  double wrong = 0;
  double all = 0;
  for (std::size_t row = 0; row < size_; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < size_; ++column) {
      sum += element(row, column, size_) * v[column];
    }
    wrong += (sum - product[row]) * (sum - product[row]);
    all += sum * sum;
  }
  return std::sqrt(wrong / all);
}

std::uint64_t Panels::checksum(std::size_t panel, const double* values) const {
  std::uint64_t sum = 0;
  for (std::size_t column = 0; column < width(panel); ++column) {
    for (std::size_t row = column; row < rows(panel); ++row) {
      sum += std::bit_cast<std::uint64_t>(values[column * rows(panel) + row]) *
             (2 * ((first(panel) + column) * size_ + first(panel) + row) + 1);
    }
  }
  return sum;
}

}  // namespace cholesky
