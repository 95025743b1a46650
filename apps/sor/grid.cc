#include "apps/sor/grid.h"

#include <algorithm>
#include <cmath>

namespace sor {

Grid::Grid(Rows own, std::int64_t rows, std::int64_t columns)
    : own_(own),
      rows_(rows),
      columns_(columns),
      cells_(static_cast<std::size_t>((own.end - own.begin + 2) * columns), 0.0) {
  if (own.begin <= 1 && own.end >= 0) std::fill_n(row(0), columns, 1.0);
}

namespace {

// `row` aliases neither neighbour, and cells of one colour do not touch: the loop has no
// dependency but the maximum, which two accumulators take off the critical path.
double update_row(double* __restrict row, const double* __restrict above,
                  const double* __restrict below, std::int64_t first, std::int64_t end,
                  double omega) {
  double even_change = 0.0;
  double odd_change = 0.0;
  const auto update = [&](std::int64_t j, double& change) {
    const double neighbours = (above[j] + below[j]) + (row[j - 1] + row[j + 1]);
    const double delta = omega * (0.25 * neighbours - row[j]);
    row[j] += delta;
    change = std::max(change, std::fabs(delta));
  };
  std::int64_t j = first;
  for (; j + 2 < end; j += 4) {
    update(j, even_change);
    update(j + 2, odd_change);
  }
  if (j < end) update(j, even_change);
  return std::max(even_change, odd_change);
}

}  // namespace

double Grid::half_sweep(Colour colour, Rows part, Columns stripe, double omega) {
  const std::int64_t begin = std::max<std::int64_t>(part.begin, 1);
  const std::int64_t end = std::min(part.end, rows_ - 1);
  const std::int64_t left = std::max<std::int64_t>(stripe.begin, 1);
  const std::int64_t right = std::min(stripe.end, columns_ - 1);
  double change = 0.0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t first = left + ((i + left + static_cast<std::int64_t>(colour)) & 1);
    change = std::max(change, update_row(row(i), row(i - 1), row(i + 1), first, right, omega));
  }
  return change;
}

}  // namespace sor
