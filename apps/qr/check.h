// How good a QR factorization is.
#pragma once
#include <vector>

#include "apps/qr/factor.h"

namespace qr {

// A factor as Factor leaves it, all columns together: column order[k] was eliminated in step k.
struct Whole {
  Matrix matrix;
  std::vector<int> order;
  std::vector<std::vector<double>> columns;  // n + 1 numbers each
};

struct Errors {
  double residual = 0.0;       // |A P - Q R| / |A|
  double orthogonality = 0.0;  // |Q' Q - I| / sqrt(n); Frobenius norms
  // By how much a diagonal element of R exceeds the one before: with the right pivots none does.
  double rise = 0.0;
};

Errors errors_of(const Whole& whole);

}  // namespace qr
