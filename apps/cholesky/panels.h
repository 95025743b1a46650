// A symmetric positive definite matrix and its factor, by columns of blocks: panel k is columns
// k * block and on, from the diagonal down, and lies on rank k % ranks. What is done to panels,
// wherever they lie.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace cholesky {

// One element of the matrix, which does not depend on the number of ranks.
double element(std::size_t row, std::size_t column, std::size_t size);

class Panels {
 public:
  Panels(std::size_t size, std::size_t block)
      : size_(size), block_(std::min(block, size)), count_((size + block_ - 1) / block_) {}

  std::size_t count() const { return count_; }
  // Values of a panel: its columns one after the other, each from the panel's first row on.
  std::size_t values(std::size_t panel) const { return rows(panel) * width(panel); }
  std::size_t values_most() const { return size_ * block_; }

  // The lower triangle of the matrix.
  void fill(std::size_t panel, double* values) const;
  // Makes columns of L of a panel from which all earlier ones were taken out.
  void factor(std::size_t panel, double* values) const;
  // Takes panel `done`, whose values are `its`, out of a later panel.
  void subtract(std::size_t done, const double* its, std::size_t panel, double* values) const;

  // A panel's part of a sum over the bits of L, which is equal for any number of ranks; modulo
  // kChecksumMask + 1.
  std::uint64_t checksum(std::size_t panel, const double* values) const;
  // |A v - L (transposed L v)| / |A v| of one vector, by one rank. `fetch` brings the values of a
  // panel, each once and in their order.
  double residual(const std::function<void(std::size_t panel, double* to)>& fetch) const;

 private:
  std::size_t first(std::size_t panel) const { return panel * block_; }
  std::size_t rows(std::size_t panel) const { return size_ - first(panel); }
  std::size_t width(std::size_t panel) const { return std::min(block_, size_ - first(panel)); }

  std::size_t size_;
  std::size_t block_;
  std::size_t count_;
};

constexpr std::uint64_t kChecksumMask = (std::uint64_t{1} << 40) - 1;

}  // namespace cholesky
