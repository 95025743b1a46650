#include "apps/fft3d/slabs.h"

#include <algorithm>

#include "fairlead/run/fairlead.h"

namespace fft3d {
namespace {

// Operations of a number that is packed or taken: two loads, two stores, two of the loop.
constexpr std::uint64_t kMoveOps = 6;

void declare_moves(std::int64_t numbers) {
  const auto count = static_cast<std::uint64_t>(numbers);
  const std::uint64_t bytes = 2 * sizeof(Complex) * count;
  if (fairlead_work != nullptr) fairlead_work(count * kMoveOps, bytes, bytes);
}

}  // namespace

Slabs::Slabs(const Size& size, int rank, int ranks)
    : size_(size), rank_(rank), ranks_(ranks), own_(share(rank)) {
  planes_.resize(static_cast<std::size_t>(own_.plane_count() * size_.nx * size_.ny));
  rows_.resize(static_cast<std::size_t>(own_.row_count() * size_.nx * size_.nz));
  frequencies_.resize(rows_.size());
  factors_.reserve(rows_.size());
  for (std::int64_t y = own_.rows.begin; y < own_.rows.end; ++y) {
    for (std::int64_t x = 0; x < size_.nx; ++x) {
      for (std::int64_t z = 0; z < size_.nz; ++z) factors_.push_back(factor_of(size_, x, y, z));
    }
  }
}

std::int64_t Slabs::block(Way way, int from, int to) const {
  const Share planes = share(way == Way::to_rows ? from : to);
  const Share rows = share(way == Way::to_rows ? to : from);
  return planes.plane_count() * rows.row_count() * size_.nx;
}

std::int64_t Slabs::before(Way way, int from, int to) const {
  return way == Way::to_rows ? share(from).planes.begin * share(to).row_count() * size_.nx
                             : share(from).rows.begin * share(to).plane_count() * size_.nx;
}

std::int64_t Slabs::most() const {
  const Share first = share(0);
  return size_.nx * std::max(first.plane_count() * size_.ny, first.row_count() * size_.nz);
}

// A block is by z, y, x, whichever way it goes.
void Slabs::pack(Way way, int to, Complex* block) const {
  const Share other = share(to);
  if (way == Way::to_rows) {
    const std::int64_t begin = other.rows.begin * size_.nx;
    const std::int64_t count = other.row_count() * size_.nx;
    for (std::int64_t z = own_.planes.begin; z < own_.planes.end; ++z) {
      block = std::copy_n(plane(z) + begin, count, block);
    }
  } else {
    const std::int64_t lines = own_.row_count() * size_.nx;
    for (std::int64_t z = other.planes.begin; z < other.planes.end; ++z) {
      const Complex* line = rows_.data() + z;
      for (std::int64_t i = 0; i < lines; ++i, line += size_.nz) *block++ = *line;
    }
  }
  declare_moves(this->block(way, rank_, to));
}

void Slabs::take(Way way, int from, const Complex* block) {
  const Share other = share(from);
  declare_moves(this->block(way, from, rank_));
  if (way == Way::to_rows) {
    const std::int64_t lines = own_.row_count() * size_.nx;
    for (std::int64_t z = other.planes.begin; z < other.planes.end; ++z) {
      Complex* line = rows_.data() + z;
      for (std::int64_t i = 0; i < lines; ++i, line += size_.nz) *line = *block++;
    }
    return;
  }
  const std::int64_t begin = other.rows.begin * size_.nx;
  const std::int64_t count = other.row_count() * size_.nx;
  for (std::int64_t z = own_.planes.begin; z < own_.planes.end; ++z, block += count) {
    std::copy_n(block, count, plane(z) + begin);
  }
}

void Slabs::declare() {
  const std::uint64_t operations = lines_.take_operations();
  if (fairlead_work != nullptr) fairlead_work(operations, operations * 2, 64 * 1024);
}

void Slabs::begin() {
  for (std::int64_t z = own_.planes.begin; z < own_.planes.end; ++z) {
    fill_plane(size_, z, plane(z));
    lines_.transform_plane(size_, plane(z), true);
  }
  declare();
}

void Slabs::make_frequencies() {
  frequencies_ = rows_;
  for (std::size_t at = 0; at < frequencies_.size(); at += static_cast<std::size_t>(size_.nz)) {
    lines_.transform(&frequencies_[at], size_.nz, 1, true);
  }
  declare();
}

void Slabs::step() {
  for (std::size_t at = 0; at < frequencies_.size(); at += static_cast<std::size_t>(size_.nz)) {
    for (std::size_t i = at; i < at + static_cast<std::size_t>(size_.nz); ++i) {
      frequencies_[i] *= factors_[i];
      rows_[i] = frequencies_[i];
    }
    lines_.transform(&rows_[at], size_.nz, 1, false);
  }
  lines_.count(frequencies_.size() * kFactorOps);
  declare();
}

Complex Slabs::finish() {
  for (std::int64_t z = own_.planes.begin; z < own_.planes.end; ++z) {
    lines_.transform_plane(size_, plane(z), false);
  }
  declare();
  Complex sum = 0;
  for (std::int64_t j = 1; j <= kChecked; ++j) {
    const Place place = place_of(size_, j);
    if (place.z < own_.planes.begin || place.z >= own_.planes.end) continue;
    sum += plane(place.z)[place.y * size_.nx + place.x];
  }
  return sum / static_cast<double>(size_.elements());
}

}  // namespace fft3d
