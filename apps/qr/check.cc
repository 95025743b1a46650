#include "apps/qr/check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace qr {
namespace {

// By columns.
using Columns = std::vector<std::vector<double>>;

// The product of the reflections, the last one applied first.
Columns make_q(const Whole& whole) {
  const auto n = static_cast<std::size_t>(whole.matrix.n);
  Columns q(n, std::vector<double>(n, 0.0));
  for (std::size_t j = 0; j < n; ++j) q[j][j] = 1.0;
  for (std::size_t k = n; k-- > 0;) {
    const std::vector<double>& v = whole.columns[static_cast<std::size_t>(whole.order[k])];
    // The columns before k are still the identity's, whose rows from k on are 0.
    for (std::size_t j = k; j < n; ++j) {
      double product = 0.0;
      for (std::size_t i = k; i < n; ++i) product += v[i] * q[j][i];
      for (std::size_t i = k; i < n; ++i) q[j][i] -= product * v[i];
    }
  }
  return q;
}

double residual_of(const Whole& whole, const Columns& q) {
  const auto n = static_cast<std::size_t>(whole.matrix.n);
  double difference = 0.0;
  double size = 0.0;
  std::vector<double> product(n);
  for (std::size_t k = 0; k < n; ++k) {
    const int number = whole.order[k];
    const std::vector<double>& column = whole.columns[static_cast<std::size_t>(number)];
    product.assign(n, 0.0);
    for (std::size_t i = 0; i <= k; ++i) {
      const double r = i < k ? column[i] : column[n];
      for (std::size_t row = 0; row < n; ++row) product[row] += r * q[i][row];
    }
    for (std::size_t row = 0; row < n; ++row) {
      const double wanted = whole.matrix.cell(static_cast<std::int64_t>(row), number);
      difference += (wanted - product[row]) * (wanted - product[row]);
      size += wanted * wanted;
    }
  }
  return std::sqrt(difference / size);
}

double orthogonality_of(const Columns& q) {
  double difference = 0.0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = i; j < q.size(); ++j) {
      double product = 0.0;
      for (std::size_t row = 0; row < q.size(); ++row) product += q[i][row] * q[j][row];
      const double error = i == j ? product - 1.0 : product;
      difference += (i == j ? 1.0 : 2.0) * error * error;
    }
  }
  return std::sqrt(difference / static_cast<double>(q.size()));
}

double rise_of(const Whole& whole) {
  double rise = 0.0;
  double before = 0.0;
  for (std::size_t k = 0; k < whole.order.size(); ++k) {
    const double diagonal =
        std::fabs(whole.columns[static_cast<std::size_t>(whole.order[k])].back());
    if (k > 0 && diagonal > before) rise = std::max(rise, diagonal / before - 1.0);
    before = diagonal;
  }
  return rise;
}

}  // namespace

Errors errors_of(const Whole& whole) {
  const Columns q = make_q(whole);
  return {residual_of(whole, q), orthogonality_of(q), rise_of(whole)};
}

}  // namespace qr
