// The three-dimensional FFT benchmark of NAS (FT: a heat equation solved in frequencies), as one
// rank computes its part of it on memory that all ranks see; alone, it is the sequential program.
//
// A field is nz planes of ny rows of nx complex numbers. A rank owns planes and, of the
// frequencies, rows: between the two lies a transposition through the shared field.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/common/share.h"

namespace fft3d {

using Complex = std::complex<double>;

struct Size {
  std::int64_t nx = 64;
  std::int64_t ny = 64;
  std::int64_t nz = 64;

  std::int64_t elements() const { return nx * ny * nz; }
};

class Transform {
 public:
  // `field` has size.elements() elements and is shared; `meet` waits for all ranks.
  Transform(const Size& size, int rank, int ranks, Complex* field, std::function<void()> meet);

  // The random field of NAS, this rank's planes, transformed to frequencies. Collective.
  void begin();
  // One more step of time; returns this rank's part of the field's checksum. Collective.
  Complex step();
  // Simple operations since the last call.
  std::uint64_t take_operations();

 private:
  Complex* row(std::int64_t z, std::int64_t y) const {
    return field_ + (z * size_.ny + y) * size_.nx;
  }
  void transform_planes(bool forward);
  void transform_line(Complex* line, std::int64_t n, std::int64_t stride, bool forward);

  const Size size_;
  const apps::Rows planes_;
  const apps::Rows rows_;
  Complex* const field_;
  std::function<void()> meet_;
  std::vector<Complex> frequencies_;  // this rank's rows: by row, x and z
  std::vector<double> factors_;       // what a step multiplies them by
  std::vector<Complex> line_;
  std::vector<Complex> roots_;  // of unity, for lines of roots_n_
  std::int64_t roots_n_ = 0;
  std::uint64_t operations_ = 0;
};

// What NAS publishes for class S (64 x 64 x 64), after each of six steps.
constexpr int kSteps = 6;
bool as_published(const Size& size, int step, Complex checksum);
bool has_published(const Size& size);

}  // namespace fft3d
