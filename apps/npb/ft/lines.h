// Fourier transforms of many lines at once: the one-dimensional part of FT.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace npb {

// As MPI sends it: two doubles. (std::complex's product looks for NaNs, which costs as much again.)
struct Complex {
  double re;
  double im;
};

// Transforms lines of up to `longest` elements, a power of two, without dividing by their length.
class Lines {
 public:
  explicit Lines(std::size_t longest);

  enum class Direction { forward, backward };
  // `count` lines of n elements, a power of two from 2 to `longest`: element i of line j lies at
  // data[i * element_stride + j * line_stride].
  void transform(Complex* data, std::size_t n, std::size_t element_stride, std::size_t count,
                 std::size_t line_stride, Direction direction);
  // Counts the butterflies of so many lines without making any.
  void pass(std::size_t n, std::size_t count);
  // Butterflies since the last call.
  std::uint64_t take_butterflies() { return std::exchange(butterflies_, 0); }

 private:
  // Lines that go through the caches together, element by element beside each other.
  static constexpr std::size_t kTogether = 8;

  Complex* transform_gathered(std::size_t n, Direction direction);

  std::size_t longest_;
  std::vector<Complex> roots_;  // exp(-2 pi i k / longest), k below longest / 2
  std::vector<Complex> from_;
  std::vector<Complex> to_;
  std::uint64_t butterflies_ = 0;
};

}  // namespace npb
