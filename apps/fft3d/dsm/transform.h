// The three-dimensional FFT as one rank computes its part of it on memory that all ranks see;
// alone, it is the sequential program. A rank owns planes and, of the frequencies, rows: between
// the two lies a transposition through the shared field.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/common/share.h"
#include "apps/fft3d/lines.h"
#include "apps/fft3d/problem.h"

namespace fft3d {

class Transform {
 public:
  // `field` has size.elements() elements and is shared; `meet` waits for all ranks.
  Transform(const Size& size, int rank, int ranks, Complex* field, std::function<void()> meet);

  // The random field of NAS, this rank's planes, transformed to frequencies. Collective.
  void begin();
  // One more step of time; returns this rank's part of the field's checksum. Collective.
  Complex step();
  // Simple operations since the last call.
  std::uint64_t take_operations() { return lines_.take_operations(); }

 private:
  Complex* row(std::int64_t z, std::int64_t y) const {
    return field_ + (z * size_.ny + y) * size_.nx;
  }
  void transform_planes(bool forward);

  const Size size_;
  const apps::Rows planes_;
  const apps::Rows rows_;
  Complex* const field_;
  std::function<void()> meet_;
  Lines lines_;
  std::vector<Complex> frequencies_;  // this rank's rows: by row, x and z
  std::vector<double> factors_;       // what a step multiplies them by
};

}  // namespace fft3d
