#include "apps/lu/blocks.h"

namespace lu {
namespace {

// row -= factor * other, columns [begin, size).
void subtract_row(double* row, const double* other, double factor, std::int64_t begin,
                  std::int64_t size) {
  for (std::int64_t j = begin; j < size; ++j) row[j] -= factor * other[j];
}

std::uint64_t cubed(std::int64_t size) {
  const auto n = static_cast<std::uint64_t>(size);
  return n * n * n;
}

}  // namespace

std::uint64_t factor(double* block, std::int64_t size) {
  for (std::int64_t k = 0; k < size; ++k) {
    for (std::int64_t i = k + 1; i < size; ++i) {
      double* const row = block + i * size;
      row[k] /= block[k * size + k];
      subtract_row(row, block + k * size, row[k], k + 1, size);
    }
  }
  return cubed(size) * 2 / 3;
}

std::uint64_t divide_right(double* block, const double* diagonal, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) {
    double* const row = block + i * size;
    for (std::int64_t k = 0; k < size; ++k) {
      row[k] /= diagonal[k * size + k];
      subtract_row(row, diagonal + k * size, row[k], k + 1, size);
    }
  }
  return cubed(size);
}

std::uint64_t divide_left(double* block, const double* diagonal, std::int64_t size) {
  for (std::int64_t k = 0; k < size; ++k) {
    for (std::int64_t i = k + 1; i < size; ++i) {
      subtract_row(block + i * size, block + k * size, diagonal[i * size + k], 0, size);
    }
  }
  return cubed(size);
}

std::uint64_t subtract_product(double* block, const double* left, const double* right,
                               std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t k = 0; k < size; ++k) {
      subtract_row(block + i * size, right + k * size, left[i * size + k], 0, size);
    }
  }
  return cubed(size) * 2;
}

}  // namespace lu
