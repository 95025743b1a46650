// A rank's columns of the matrix that Householder reflections turn into Q R, and what is done with
// them. Columns are dealt out in turn: column j is rank j % ranks'. A column never moves: pivoting
// says which one is eliminated next.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qr {

// The matrix to factor.
struct Matrix {
  std::int64_t n = 0;         // rows and columns
  std::int64_t distinct = 0;  // column j is that of j % distinct

  // Between -1 and 1.
  double cell(std::int64_t row, std::int64_t column) const;
};

// A number and the column that has it, laid out as MPI_DOUBLE_INT.
struct Candidate {
  double value = -1.0;
  int column = -1;
};

// What ranks agree on after each step, each by its largest value (MPI_MAXLOC).
struct Choice {
  Candidate pivot;  // by the square of its norm below the rows that are done
  // By how much of its norm cancelled since the norm was last summed up: the relative error of the
  // norm has grown as much.
  Candidate loss;
};

class Factor {
 public:
  Factor(int rank, int ranks, const Matrix& matrix);

  std::int64_t n() const { return n_; }
  std::int64_t own_columns() const { return static_cast<std::int64_t>(columns_.size()); }
  std::int64_t active_columns() const { return active_; }
  bool owns(std::int64_t column) const { return column % ranks_ == rank_; }

  // The Householder vector of own column `column` for rows `step` and below: v with |v|^2 = 2 (0
  // for a column of zeros), so that I - v v' turns the column into one number above zeros. The
  // column keeps v, and the number as its diagonal of R.
  std::span<const double> eliminate(std::int64_t column, std::int64_t step);
  // Applies I - v v' of `step` to the own columns that are left, and takes their new top row, which
  // is R's, out of their norms.
  void reflect(std::span<const double> v, std::int64_t step);
  // The best of the own columns that are left.
  Choice best() const;
  // Sums the norms of the own columns that are left up again: rows `step` and below.
  void renew_norms(std::int64_t step);

  // An own column: above its step R, from there on v; then the diagonal of R.
  std::span<const double> column(std::int64_t column) const {
    return columns_[static_cast<std::size_t>(column / ranks_)].cells;
  }

 private:
  struct Column {
    std::vector<double> cells;  // n, and the diagonal of R
    double norm2 = 0.0;         // below the rows that are done
    double summed = 0.0;        // the same when it was last summed up
    bool done = false;
  };
  Column& own(std::int64_t column) { return columns_[static_cast<std::size_t>(column / ranks_)]; }

  int rank_;
  int ranks_;
  std::int64_t n_;
  std::int64_t active_;
  std::vector<Column> columns_;
};

}  // namespace qr
