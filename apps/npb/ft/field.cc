#include "apps/npb/ft/field.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/common/random.h"

namespace npb {
namespace {

constexpr double kDiffusion = 1e-6;
constexpr std::int64_t kChecked = 1024;
// Guessed: a complex product and two sums with their loads and stores.
constexpr std::uint64_t kOpsPerButterfly = 16;
constexpr std::uint64_t kOpsPerFactor = 40;  // an exponential
constexpr std::uint64_t kOpsPerNumber = 6;   // of the generator
constexpr std::uint64_t kOpsPerStep = 6;

// A frequency's number, counted from both sides of zero, squared.
std::int64_t squared(std::int64_t k, std::int64_t n) {
  const std::int64_t from_zero = (k + n / 2) % n - n / 2;
  return from_zero * from_zero;
}

std::uint64_t bytes_of(const std::vector<Complex>& numbers) {
  return numbers.size() * sizeof(Complex);
}

}  // namespace

Field::Field(const FtSize& size, int rank, int ranks, bool declared)
    : size_(size),
      ranks_(ranks),
      declared_(declared),
      planes_(size.nz / ranks),
      rows_(size.ny / ranks),
      first_plane_(planes_ * rank),
      first_row_(rows_ * rank),
      lines_(static_cast<std::size_t>(std::max({size.nx, size.ny, size.nz}))),
      field_(static_cast<std::size_t>(size.points() / ranks)),
      frequencies_(field_.size()),
      work_(field_.size()),
      factors_(declared ? 0 : field_.size()) {}

void Field::begin() {
  make_factors();
  fill();
  transform_planes(Lines::Direction::forward);
  planes_to_rows();
  const std::int64_t plane = rows_ * size_.nx;
  transform(frequencies_.data(), size_.nz, plane, plane, 1, Lines::Direction::forward);
  declare_transforms();
}

Complex Field::step() {
  advance();
  const std::int64_t plane = rows_ * size_.nx;
  transform(work_.data(), size_.nz, plane, plane, 1, Lines::Direction::backward);
  declare_transforms();
  rows_to_planes();
  transform_planes(Lines::Direction::backward);
  declare_transforms();
  return checksum();
}

void Field::transform(Complex* data, std::int64_t n, std::int64_t element_stride,
                      std::int64_t count, std::int64_t line_stride, Lines::Direction direction) {
  const auto size = [](std::int64_t each) { return static_cast<std::size_t>(each); };
  if (declared_) {
    lines_.pass(size(n), size(count));
  } else {
    lines_.transform(data, size(n), size(element_stride), size(count), size(line_stride),
                     direction);
  }
}

// One step of time for the frequencies, and a copy of them to transform.
void Field::advance() {
  const std::uint64_t bytes = 3 * bytes_of(frequencies_);
  declare_work(frequencies_.size() * kOpsPerStep, bytes + frequencies_.size() * sizeof(double),
               bytes);
  if (declared_) return;
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    frequencies_[i].re *= factors_[i];
    frequencies_[i].im *= factors_[i];
    work_[i] = frequencies_[i];
  }
}

// The numbers are one sequence over the whole field: real, imaginary, along x, then y, then z.
void Field::fill() {
  declare_work(2 * field_.size() * kOpsPerNumber, bytes_of(field_), bytes_of(field_));
  if (declared_) return;
  Random random(Random::kSeed);
  random.skip(static_cast<std::uint64_t>(2 * size_.nx * size_.ny * first_plane_));
  for (Complex& each : field_) {
    each.re = random.next();
    each.im = random.next();
  }
}

void Field::make_factors() {
  const std::uint64_t bytes = field_.size() * sizeof(double);
  declare_work(field_.size() * kOpsPerFactor, bytes, bytes);
  if (declared_) return;
  const double exponent = -4 * kDiffusion * std::numbers::pi * std::numbers::pi;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < size_.nz; ++z) {
    for (std::int64_t y = first_row_; y < first_row_ + rows_; ++y) {
      const std::int64_t others = squared(z, size_.nz) + squared(y, size_.ny);
      for (std::int64_t x = 0; x < size_.nx; ++x) {
        factors_[i++] = std::exp(exponent * static_cast<double>(others + squared(x, size_.nx)));
      }
    }
  }
}

// Along x first on the way to frequencies, along y first on the way back.
void Field::transform_planes(Lines::Direction direction) {
  const std::int64_t nx = size_.nx;
  const std::int64_t ny = size_.ny;
  for (std::int64_t z = 0; z < planes_; ++z) {
    Complex* const plane = &at(z, 0, 0);
    if (direction == Lines::Direction::backward) transform(plane, ny, nx, nx, 1, direction);
    transform(plane, nx, 1, ny, nx, direction);
    if (direction == Lines::Direction::forward) transform(plane, ny, nx, nx, 1, direction);
  }
  declare_transforms();
}

// What a rank gets from the others lies in the order of their planes, which is that of z.
void Field::planes_to_rows() {
  if (ranks_ == 1) {
    frequencies_ = field_;
    return;
  }
  const std::int64_t piece = rows_ * size_.nx;
  Complex* to = work_.data();
  for (int other = 0; other < ranks_; ++other) {
    for (std::int64_t z = 0; z < planes_; ++z)
      to = std::copy_n(&at(z, other * rows_, 0), piece, to);
  }
  declare_work(2 * work_.size(), 2 * bytes_of(work_), 2 * bytes_of(work_));
  const int count = static_cast<int>(2 * planes_ * piece);
  MPI_Alltoall(work_.data(), count, MPI_DOUBLE, frequencies_.data(), count, MPI_DOUBLE,
               MPI_COMM_WORLD);
}

void Field::rows_to_planes() {
  if (ranks_ == 1) {
    field_.swap(work_);
    return;
  }
  const std::int64_t piece = rows_ * size_.nx;
  const int count = static_cast<int>(2 * planes_ * piece);
  std::vector<Complex>& arrived = field_;
  MPI_Alltoall(work_.data(), count, MPI_DOUBLE, arrived.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
  arrived.swap(work_);
  const Complex* from = work_.data();
  for (int other = 0; other < ranks_; ++other) {
    for (std::int64_t z = 0; z < planes_; ++z, from += piece) {
      std::copy_n(from, piece, &at(z, other * rows_, 0));
    }
  }
  declare_work(2 * work_.size(), 2 * bytes_of(work_), 2 * bytes_of(work_));
}

Complex Field::checksum() const {
  Complex sum{0, 0};
  for (std::int64_t j = 1; j <= kChecked; ++j) {
    const std::int64_t z = 5 * j % size_.nz - first_plane_;
    if (z < 0 || z >= planes_) continue;
    const std::int64_t row = z * size_.ny + 3 * j % size_.ny;
    const Complex& point = field_[static_cast<std::size_t>(row * size_.nx + j % size_.nx)];
    sum.re += point.re;
    sum.im += point.im;
  }
  const auto points = static_cast<double>(size_.points());
  return {sum.re / points, sum.im / points};
}

void Field::declare_transforms() {
  // Lines go through the caches once for each direction.
  declare_work(lines_.take_butterflies() * kOpsPerButterfly, 2 * bytes_of(field_),
               bytes_of(field_));
}

}  // namespace npb
