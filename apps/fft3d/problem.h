// The three-dimensional FFT benchmark of NAS (FT: a heat equation solved in frequencies): its
// random field, what a step of time does to a frequency, and what it publishes.
#pragma once
#include <complex>
#include <cstdint>

namespace fft3d {

using Complex = std::complex<double>;

// A field is nz planes of ny rows of nx complex numbers.
struct Size {
  std::int64_t nx = 64;
  std::int64_t ny = 64;
  std::int64_t nz = 64;

  std::int64_t elements() const { return nx * ny * nz; }
};

// The random field's plane z: nx * ny numbers.
void fill_plane(const Size& size, std::int64_t z, Complex* plane);
// What a step multiplies the frequency (x, y, z) by.
double factor_of(const Size& size, std::int64_t x, std::int64_t y, std::int64_t z);
constexpr std::uint64_t kFactorOps = 6;  // of that multiplication

// A checksum is the sum of so many elements, number j of which, from 1, lies at place_of(j).
constexpr std::int64_t kChecked = 1024;
struct Place {
  std::int64_t x;
  std::int64_t y;
  std::int64_t z;
};
inline Place place_of(const Size& size, std::int64_t j) {
  return {j % size.nx, 3 * j % size.ny, 5 * j % size.nz};
}

// What NAS publishes for class S (64 x 64 x 64), after each of six steps.
constexpr int kSteps = 6;
bool as_published(const Size& size, int step, Complex checksum);
bool has_published(const Size& size);

}  // namespace fft3d
