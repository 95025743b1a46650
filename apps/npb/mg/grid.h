// A box of points with one layer of ghosts around it, and what multigrid does with such boxes
// (NAS report RNR-94-007, section 3.2): stencils of 27 points, whose weights depend on how many
// coordinates differ. All reads of ghosts find what was put there last; nothing here sends.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

namespace npb {

// By axis: x, y, z.
using Triple = std::array<int, 3>;

class Grid {
 public:
  Grid() = default;
  // stored: false for a grid without values, of which only the work is declared.
  Grid(Triple points, bool stored)
      : points_(points),
        pitch_(static_cast<std::size_t>(points[0] + 2)),
        size_(pitch_ * static_cast<std::size_t>(points[1] + 2) *
              static_cast<std::size_t>(points[2] + 2)),
        values_(stored ? size_ : 0) {}

  // Without the ghosts, which have the coordinates 0 and points() + 1.
  Triple points() const { return points_; }
  double* row(int z, int y) { return &values_[offset(z, y)]; }
  const double* row(int z, int y) const { return &values_[offset(z, y)]; }
  double& at(Triple where) { return row(where[2], where[1])[where[0]]; }
  double at(Triple where) const { return row(where[2], where[1])[where[0]]; }
  void clear() { values_.assign(values_.size(), 0.0); }
  std::size_t size() const { return size_; }
  bool stored() const { return !values_.empty(); }

 private:
  std::size_t offset(int z, int y) const {
    return (static_cast<std::size_t>(z) * static_cast<std::size_t>(points_[1] + 2) +
            static_cast<std::size_t>(y)) *
           pitch_;
  }

  Triple points_{};
  std::size_t pitch_ = 0;
  std::size_t size_ = 0;
  std::vector<double> values_;
};

// Weights of the points whose coordinates differ in 0, 1, 2 and 3 places.
using Weights = std::array<double, 4>;

// Two rows of sums that each result of a stencil reads three of; kept from call to call.
struct Scratch {
  std::vector<double> faces;
  std::vector<double> edges;
};

// r = v - A u inside; r may be v.
void residual(const Grid& u, const Grid& v, Grid& r, Scratch& scratch);
// u += S r inside, where weights[3] is 0.
void smooth(const Grid& r, const Weights& weights, Grid& u, Scratch& scratch);
// The coarse grid's inside: half as many points a side, at the fine grid's even coordinates.
void restrict_to(const Grid& fine, Grid& coarse, Scratch& scratch);
// fine += the coarse grid's values between them, ghosts included. `from`: the coarse grid's
// coordinates where the fine one has 0.
void interpolate(const Grid& coarse, Triple from, Grid& fine, Scratch& scratch);
std::size_t points_in(const Grid& grid);
// The inside's squares.
double sum_of_squares(const Grid& grid);

}  // namespace npb
