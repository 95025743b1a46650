// A rank's rows of the SOR matrix and the half sweep over them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/common/share.h"

namespace sor {

using apps::Rows;
using apps::share_of;
using Columns = apps::Rows;  // [begin, end)

enum class Colour : std::int64_t { red, black };

// Rows [own.begin, own.end) of a matrix of `rows` x `columns` doubles, with one ghost row on
// either side. The matrix's outermost rows and columns are fixed: 1 in row 0, else 0.
class Grid {
 public:
  Grid(Rows own, std::int64_t rows, std::int64_t columns);

  const Rows& own() const { return own_; }
  std::int64_t columns() const { return columns_; }
  // Row `row` of the matrix, own.begin - 1 <= row <= own.end.
  double* row(std::int64_t row) { return cells_.data() + (row - own_.begin + 1) * columns_; }

  // Updates the cells of one colour in `part` of the own rows, all of them or a stripe of columns;
  // answers the largest change made. The bits depend on the neighbours' values only, never on how
  // the cells are shared out.
  double half_sweep(Colour colour, Rows part, double omega) {
    return half_sweep(colour, part, {0, columns_}, omega);
  }
  double half_sweep(Colour colour, Rows part, Columns stripe, double omega);

 private:
  Rows own_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<double> cells_;
};

}  // namespace sor
