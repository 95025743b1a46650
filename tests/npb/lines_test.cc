#include "apps/npb/ft/lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace npb {
namespace {

// By the definition.
Complex frequency(const std::vector<Complex>& line, std::size_t k, double sign) {
  Complex sum{0, 0};
  for (std::size_t i = 0; i < line.size(); ++i) {
    const double angle =
        sign * 2 * std::numbers::pi * static_cast<double>(i * k) / static_cast<double>(line.size());
    sum.re += line[i].re * std::cos(angle) - line[i].im * std::sin(angle);
    sum.im += line[i].re * std::sin(angle) + line[i].im * std::cos(angle);
  }
  return sum;
}

// Lines of n elements: element i of line j at i * element_stride + j * line_stride.
void expect_transformed(std::size_t n, std::size_t count, std::size_t element_stride,
                        std::size_t line_stride, Lines::Direction direction) {
  std::vector<Complex> data(n * count);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto at = static_cast<double>(i);
    data[i] = {std::sin(at * 1.7), std::cos(at * at)};
  }
  const std::vector<Complex> before = data;
  Lines lines(32);
  lines.transform(data.data(), n, element_stride, count, line_stride, direction);
  for (std::size_t j = 0; j < count; ++j) {
    std::vector<Complex> line;
    for (std::size_t i = 0; i < n; ++i) {
      line.push_back(before[i * element_stride + j * line_stride]);
    }
    for (std::size_t k = 0; k < n; ++k) {
      const Complex expected = frequency(line, k, direction == Lines::Direction::forward ? -1 : 1);
      const Complex& found = data[k * element_stride + j * line_stride];
      EXPECT_NEAR(found.re, expected.re, 1e-12);
      EXPECT_NEAR(found.im, expected.im, 1e-12);
    }
  }
  // Expect: n/2 butterflies in each of log2(n) stages of every line, counted once.
  EXPECT_EQ(lines.take_butterflies(),
            count * n / 2 * static_cast<std::size_t>(std::lround(std::log2(n))));
  EXPECT_EQ(lines.take_butterflies(), 0U);
}

TEST(Lines, TransformsByTheDefinition) {
  for (const auto direction : {Lines::Direction::forward, Lines::Direction::backward}) {
    // 11 lines are no multiple of those that go together; 32 is the longest, 2 the shortest.
    for (const std::size_t n : {2U, 8U, 32U}) {
      expect_transformed(n, 11, 1, n, direction);
      expect_transformed(n, 11, 11, 1, direction);
    }
  }
}

}  // namespace
}  // namespace npb
