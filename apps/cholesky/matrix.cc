#include "apps/cholesky/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>

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

Matrix::Matrix(std::size_t size, std::size_t block)
    : size_(size),
      block_(std::min(block, size)),
      panels_((size + block_ - 1) / block_),
      memory_(panels_, size * block_) {
  for (const std::size_t panel : splitc::for_my(panels_)) {
    double* at = memory_.local(panel);
    for (std::size_t column = first(panel); column < first(panel) + width(panel); ++column) {
      for (std::size_t row = first(panel); row < size_; ++row) *at++ = element(row, column, size_);
    }
  }
}

void Matrix::factor_panel(std::size_t panel, double* values) const {
  const std::size_t rows = size_ - first(panel);
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

// Takes panel `done`, whose values are `its`, out of a later panel.
void Matrix::subtract(std::size_t done, const double* its, std::size_t panel,
                      double* values) const {
  const std::size_t rows = size_ - first(panel);
  const std::size_t its_rows = size_ - first(done);
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

void Matrix::factor() {
  std::vector<double> fetched(size_ * block_);
  for (std::size_t done = 0; done < panels_; ++done) {
    if (is_mine(done)) factor_panel(done, memory_.local(done));
    // Behind it nobody changes the panel any more.
    splitc::barrier();
    if (done + 1 == panels_) return;
    const double* its = fetched.data();
    if (is_mine(done)) {
      its = memory_.local(done);
    } else {
      splitc::bulk_get(fetched.data(), memory_[done], values(done));
      splitc::sync();
    }
    for (const std::size_t panel : splitc::for_my(panels_)) {
      if (panel > done) subtract(done, its, panel, memory_.local(panel));
    }
  }
}

double Matrix::residual() const {
  splitc::barrier();
  double wrong = 0;
  double all = 0;
  if (splitc::my_proc() == 0) {
    std::vector<double> v(size_);
    std::vector<double> product(size_);  // L (transposed L v)
    std::vector<double> panel(size_ * block_);
    for (std::size_t i = 0; i < size_; ++i) v[i] = number(apps::scramble(i + 11)) - 0.5;
    for (std::size_t k = 0; k < panels_; ++k) {
      splitc::bulk_read(panel.data(), memory_[k], values(k));
      const std::size_t rows = size_ - first(k);
      for (std::size_t column = 0; column < width(k); ++column) {
        const double* const its = panel.data() + column * rows;
        double sum = 0;
        for (std::size_t row = column; row < rows; ++row) sum += its[row] * v[first(k) + row];
        for (std::size_t row = column; row < rows; ++row) product[first(k) + row] += its[row] * sum;
      }
    }
    for (std::size_t row = 0; row < size_; ++row) {
      double sum = 0;
      for (std::size_t column = 0; column < size_; ++column) {
        sum += element(row, column, size_) * v[column];
      }
      wrong += (sum - product[row]) * (sum - product[row]);
      all += sum * sum;
    }
  }
  return splitc::broadcast(std::sqrt(wrong / all), 0);
}

std::uint64_t Matrix::checksum() const {
  std::uint64_t sum = 0;
  for (const std::size_t panel : splitc::for_my(panels_)) {
    const std::size_t rows = size_ - first(panel);
    for (std::size_t column = 0; column < width(panel); ++column) {
      for (std::size_t row = column; row < rows; ++row) {
        const double value = memory_.local(panel)[column * rows + row];
        sum += std::bit_cast<std::uint64_t>(value) *
               (2 * ((first(panel) + column) * size_ + first(panel) + row) + 1);
      }
    }
  }
  return splitc::all_reduce_sum(sum) & ((std::uint64_t{1} << 40) - 1);
}

}  // namespace cholesky
