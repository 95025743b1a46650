// The matrix of CG of the NAS Parallel Benchmarks: a sum of outer products of sparse random vectors
// with themselves, weighted from 1 down to 1/10, and of (1/10 - shift) times the unit matrix.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/common/share.h"

namespace npb {

struct CgClass {
  char name;
  int n;         // rows and columns
  int nonzeros;  // of a random vector, without its diagonal element
  int steps;
  double shift;
  double zeta;            // as published
  std::int64_t elements;  // of the matrix, counted
};

// Rows and columns of the whole matrix that one rank has, by rows.
class Block {
 public:
  // Makes the whole sequence of random vectors, as no rank could begin in its middle, and keeps
  // what falls into the block.
  Block(const CgClass& of, apps::Rows rows, apps::Rows columns);
  // No elements.
  Block() = default;

  // out = block * in; in: one number a column of the block, out: one a row.
  void multiply(const double* in, double* out) const;
  std::size_t elements() const { return values_.size(); }

 private:
  std::vector<std::size_t> starts_;  // by row, and the end
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
};

}  // namespace npb
