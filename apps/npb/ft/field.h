// One rank's part of the heat equation that FT of the NAS Parallel Benchmarks solves by Fourier
// transforms. A rank has planes of the field (all x and y of some z) and rows of its frequencies
// (all x and z of some y); between the two every rank sends a piece to every other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/npb/ft/lines.h"

namespace npb {

struct FtSize {
  std::int64_t nx;
  std::int64_t ny;
  std::int64_t nz;

  std::int64_t points() const { return nx * ny * nz; }
};

// `ranks` divides ny and nz. begin() and step() are collective over MPI_COMM_WORLD.
class Field {
 public:
  // declared: the field keeps its zeros.
  Field(const FtSize& size, int rank, int ranks, bool declared);

  // The random field at time 0, transformed to frequencies, and what a step multiplies them by.
  void begin();
  // One more step of time. Returns this rank's part of the sum over 1024 points of the field,
  // divided by the number of all points.
  Complex step();

 private:
  void transform(Complex* data, std::int64_t n, std::int64_t element_stride, std::int64_t count,
                 std::int64_t line_stride, Lines::Direction direction);
  void fill();
  void advance();
  void make_factors();
  void transform_planes(Lines::Direction direction);
  void planes_to_rows();
  void rows_to_planes();
  Complex checksum() const;
  void declare_transforms();
  Complex& at(std::int64_t z, std::int64_t y, std::int64_t x) {
    return field_[static_cast<std::size_t>((z * size_.ny + y) * size_.nx + x)];
  }

  const FtSize size_;
  const int ranks_;
  const bool declared_;
  const std::int64_t planes_;  // that a rank has
  const std::int64_t rows_;    // of frequencies that it has
  const std::int64_t first_plane_;
  const std::int64_t first_row_;
  Lines lines_;
  std::vector<Complex> field_;        // by z, y, x
  std::vector<Complex> frequencies_;  // by z, y, x
  std::vector<Complex> work_;
  std::vector<double> factors_;  // as frequencies_
};

}  // namespace npb
