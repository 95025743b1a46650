#include "apps/fft3d/lines.h"

#include <cmath>
#include <numbers>

namespace fft3d {
namespace {

// A butterfly: a complex multiplication and two additions, their loads and stores.
constexpr std::uint64_t kButterflyOps = 16;

}  // namespace

void Lines::make_roots(std::int64_t n) {
  const auto half = static_cast<std::size_t>(n) / 2;
  roots_.resize(half);
  for (std::size_t k = 0; k < half; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots_[k] = {std::cos(angle), std::sin(angle)};
  }
  roots_n_ = n;
}

// Radix 2, in place but for a copy of the line.
void Lines::transform(Complex* line, std::int64_t n, std::int64_t stride, bool forward) {
  const auto count = static_cast<std::size_t>(n);
  if (roots_n_ != n) make_roots(n);
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

void Lines::transform_plane(const Size& size, Complex* plane, bool forward) {
  for (std::int64_t y = 0; y < size.ny; ++y) transform(plane + y * size.nx, size.nx, 1, forward);
  for (std::int64_t x = 0; x < size.nx; ++x) transform(plane + x, size.ny, size.nx, forward);
}

}  // namespace fft3d
