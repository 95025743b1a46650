#include "apps/fft3d/dsm/transform.h"

#include <utility>

namespace fft3d {

Transform::Transform(const Size& size, int rank, int ranks, Complex* field,
                     std::function<void()> meet)
    : size_(size),
      planes_(apps::share_of(rank, ranks, size.nz)),
      rows_(apps::share_of(rank, ranks, size.ny)),
      field_(field),
      meet_(std::move(meet)) {}

void Transform::begin() {
  for (std::int64_t z = planes_.begin; z < planes_.end; ++z) fill_plane(size_, z, row(z, 0));
  transform_planes(true);
  meet_();
  const std::int64_t own = (rows_.end - rows_.begin) * size_.nx * size_.nz;
  frequencies_.resize(static_cast<std::size_t>(own));
  factors_.resize(frequencies_.size());
  std::size_t at = 0;
  for (std::int64_t y = rows_.begin; y < rows_.end; ++y) {
    for (std::int64_t x = 0; x < size_.nx; ++x) {
      Complex* const line = &frequencies_[at];
      for (std::int64_t z = 0; z < size_.nz; ++z, ++at) {
        frequencies_[at] = row(z, y)[x];
        factors_[at] = factor_of(size_, x, y, z);
      }
      lines_.transform(line, size_.nz, 1, true);
    }
  }
  meet_();
}

Complex Transform::step() {
  std::vector<Complex> line(static_cast<std::size_t>(size_.nz));
  std::size_t at = 0;
  for (std::int64_t y = rows_.begin; y < rows_.end; ++y) {
    for (std::int64_t x = 0; x < size_.nx; ++x) {
      for (Complex& each : line) {
        frequencies_[at] *= factors_[at];
        each = frequencies_[at++];
      }
      lines_.transform(line.data(), size_.nz, 1, false);
      for (std::int64_t z = 0; z < size_.nz; ++z) row(z, y)[x] = line[static_cast<std::size_t>(z)];
    }
  }
  lines_.count(frequencies_.size() * kFactorOps);
  meet_();
  transform_planes(false);
  Complex sum = 0;
  for (std::int64_t j = 1; j <= kChecked; ++j) {
    const Place place = place_of(size_, j);
    if (place.z >= planes_.begin && place.z < planes_.end) sum += row(place.z, place.y)[place.x];
  }
  // Nobody writes the next step's rows into planes that are still being read.
  meet_();
  return sum / static_cast<double>(size_.elements());
}

void Transform::transform_planes(bool forward) {
  for (std::int64_t z = planes_.begin; z < planes_.end; ++z) {
    lines_.transform_plane(size_, row(z, 0), forward);
  }
}

}  // namespace fft3d
