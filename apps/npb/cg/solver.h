// The conjugate gradients of CG on a grid of ranks, each with a block of the matrix, as the MPI
// program of NPB has it: as many rows of ranks as columns, or half as many. Vectors are distributed
// over the columns of ranks, and every row of ranks holds a copy.
#pragma once
#include <vector>

#include "apps/common/share.h"
#include "apps/npb/cg/matrix.h"

namespace npb {

// Where a rank stands. `ranks` is a power of two.
struct CgPlace {
  CgPlace(int rank, int ranks, int n);

  int grid_columns = 1;
  int row = 0;
  int column = 0;
  apps::Rows matrix_rows{};
  apps::Rows matrix_columns{};
  // The part of a product's rows that the transposed rank has as columns. It sends this rank's.
  apps::Rows wanted{};
  int transposed = 0;
};

// All calls but the constructor's are collective over MPI_COMM_WORLD.
class CgSolver {
 public:
  // declared: there is no matrix, and what vectors hold means nothing.
  CgSolver(const CgClass& of, int rank, int ranks, bool declared);

  // Sets the eigenvector's estimate x to ones.
  void begin();
  struct Step {
    double zeta;      // the eigenvalue's estimate
    double residual;  // |x - A z|
  };
  // Solves A z = x by 25 iterations, estimates the eigenvalue and normalizes z to the next x.
  Step step();

 private:
  double solve();
  void multiply(const std::vector<double>& in, std::vector<double>& out);
  void add_over_row_of_ranks();
  // Sums `count` numbers over the ranks of a row, which hold all of a vector.
  void sum(double* values, int count) const;
  double dot(const std::vector<double>& a, const std::vector<double>& b) const;
  int neighbour(int distance) const {
    return place_.row * place_.grid_columns + (place_.column ^ distance);
  }

  const CgClass& class_;
  const bool declared_;
  const CgPlace place_;
  const Block block_;
  const std::uint64_t elements_;
  std::vector<double> x_, z_, p_, q_, r_;  // by the block's columns
  std::vector<double> product_, arrived_;  // by its rows
};

}  // namespace npb
