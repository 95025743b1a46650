#include "apps/fft3d/transform.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace fft3d {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr std::uint64_t kMultiplier = 1220703125;  // 5^13
constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;
constexpr double kDiffusion = 1e-6;
// A butterfly: a complex multiplication and two additions, their loads and stores.
constexpr std::uint64_t kButterflyOps = 16;
constexpr std::uint64_t kMultiplyOps = 6;
constexpr std::int64_t kChecked = 1024;  // elements of a checksum

// The generator's state `steps` behind `state`.
std::uint64_t jump(std::uint64_t state, std::uint64_t steps) {
  for (std::uint64_t power = kMultiplier; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) state = state * power & kMask;
    power = power * power & kMask;
  }
  return state;
}
double draw(std::uint64_t& state) {
  state = state * kMultiplier & kMask;
  return static_cast<double>(state) * 0x1p-46;
}

// A frequency's number, counted from both sides of zero, squared.
double squared(std::int64_t k, std::int64_t n) {
  const std::int64_t signed_k = (k + n / 2) % n - n / 2;
  return static_cast<double>(signed_k * signed_k);
}

}  // namespace

Transform::Transform(const Size& size, int rank, int ranks, Complex* field,
                     std::function<void()> meet)
    : size_(size),
      planes_(apps::share_of(rank, ranks, size.nz)),
      rows_(apps::share_of(rank, ranks, size.ny)),
      field_(field),
      meet_(std::move(meet)) {}

void Transform::begin() {
  const auto per_plane = static_cast<std::uint64_t>(2 * size_.nx * size_.ny);
  for (std::int64_t z = planes_.begin; z < planes_.end; ++z) {
    std::uint64_t state = jump(kSeed, per_plane * static_cast<std::uint64_t>(z));
    for (std::int64_t i = 0; i < size_.nx * size_.ny; ++i) {
      const double real = draw(state);
      row(z, 0)[i] = {real, draw(state)};
    }
  }
  transform_planes(true);
  meet_();
  const std::int64_t own = (rows_.end - rows_.begin) * size_.nx * size_.nz;
  frequencies_.resize(static_cast<std::size_t>(own));
  factors_.resize(frequencies_.size());
  std::size_t at = 0;
  const double exponent = -4 * kDiffusion * std::numbers::pi * std::numbers::pi;
  for (std::int64_t y = rows_.begin; y < rows_.end; ++y) {
    for (std::int64_t x = 0; x < size_.nx; ++x) {
      Complex* const line = &frequencies_[at];
      for (std::int64_t z = 0; z < size_.nz; ++z, ++at) {
        frequencies_[at] = row(z, y)[x];
        factors_[at] = std::exp(
            exponent * (squared(x, size_.nx) + squared(y, size_.ny) + squared(z, size_.nz)));
      }
      transform_line(line, size_.nz, 1, true);
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
      transform_line(line.data(), size_.nz, 1, false);
      for (std::int64_t z = 0; z < size_.nz; ++z) row(z, y)[x] = line[static_cast<std::size_t>(z)];
    }
  }
  operations_ += frequencies_.size() * kMultiplyOps;
  meet_();
  transform_planes(false);
  Complex sum = 0;
  for (std::int64_t j = 1; j <= kChecked; ++j) {
    const std::int64_t z = 5 * j % size_.nz;
    if (z >= planes_.begin && z < planes_.end) sum += row(z, 3 * j % size_.ny)[j % size_.nx];
  }
  // Nobody writes the next step's rows into planes that are still being read.
  meet_();
  return sum / static_cast<double>(size_.elements());
}

void Transform::transform_planes(bool forward) {
  for (std::int64_t z = planes_.begin; z < planes_.end; ++z) {
    for (std::int64_t y = 0; y < size_.ny; ++y) transform_line(row(z, y), size_.nx, 1, forward);
    for (std::int64_t x = 0; x < size_.nx; ++x) {
      transform_line(row(z, 0) + x, size_.ny, size_.nx, forward);
    }
  }
}

// Radix 2, in place but for a copy of the line; n is a power of two. Backward without the division.
void Transform::transform_line(Complex* line, std::int64_t n, std::int64_t stride, bool forward) {
  const auto count = static_cast<std::size_t>(n);
  if (roots_n_ != n) {
    roots_.resize(count / 2);
    for (std::size_t k = 0; k < count / 2; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      roots_[k] = {std::cos(angle), std::sin(angle)};
    }
    roots_n_ = n;
  }
  std::vector<Complex>& data = line_;
  data.resize(count);
  for (std::size_t i = 0, reversed = 0; i < count; ++i) {
    data[reversed] = line[static_cast<std::int64_t>(i) * stride];
    std::size_t bit = count / 2;
    while (bit != 0 && (reversed & bit) != 0) {
      reversed ^= bit;
      bit /= 2;
    }
    reversed |= bit;
  }
  for (std::size_t half = 1; half < count; half *= 2) {
    for (std::size_t base = 0; base < count; base += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex root = roots_[k * (count / 2 / half)];
        const Complex factor = forward ? root : std::conj(root);
        const Complex& low = data[base + k];
        const Complex& high = data[base + k + half];
        const Complex turned(factor.real() * high.real() - factor.imag() * high.imag(),
                             factor.real() * high.imag() + factor.imag() * high.real());
        const Complex sum = low + turned;
        data[base + k + half] = low - turned;
        data[base + k] = sum;
      }
    }
    operations_ += count / 2 * kButterflyOps;
  }
  for (std::size_t i = 0; i < count; ++i) line[static_cast<std::int64_t>(i) * stride] = data[i];
}

std::uint64_t Transform::take_operations() { return std::exchange(operations_, 0); }

namespace {

constexpr std::array<Complex, kSteps> kClassS = {{{554.6087004964, 484.5363331978},
                                                  {554.6385409190, 486.5304269511},
                                                  {554.6148406171, 488.3910722337},
                                                  {554.5423607415, 490.1273169046},
                                                  {554.4255039624, 491.7475857993},
                                                  {554.2683411903, 493.2597244941}}};

}  // namespace

bool has_published(const Size& size) { return size.nx == 64 && size.ny == 64 && size.nz == 64; }

bool as_published(const Size& size, int step, Complex checksum) {
  if (!has_published(size) || step < 1 || step > kSteps) return true;
  const Complex expected = kClassS[static_cast<std::size_t>(step - 1)];
  return std::abs(checksum - expected) <= 1e-12 * std::abs(expected) + 2e-10;
}

}  // namespace fft3d
