#include "apps/npb/mg/grid.h"

#include <algorithm>
#include <cstdint>

#include "apps/npb/common/benchmark.h"

namespace npb {
namespace {

// The operator A: weights[1] is 0.
constexpr Weights kOperator = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};

// Per result: the sums, products, loads and stores. Guessed.
constexpr std::uint64_t kOpsOfResidual = 30;
constexpr std::uint64_t kOpsOfSmoothing = 30;
constexpr std::uint64_t kOpsOfRestriction = 40;
constexpr std::uint64_t kOpsOfInterpolation = 12;

void prepare(Scratch& scratch, const Grid& grid) {
  const auto length = static_cast<std::size_t>(grid.points()[0] + 2);
  if (scratch.faces.size() >= length) return;
  scratch.faces.resize(length);
  scratch.edges.resize(length);
}

// For all x of a row: sums over the four neighbours in y or z, and over the four in y and z.
void add_neighbours(const Grid& grid, int z, int y, Scratch& scratch) {
  const double* const below = grid.row(z - 1, y);
  const double* const above = grid.row(z + 1, y);
  const double* const front = grid.row(z, y - 1);
  const double* const back = grid.row(z, y + 1);
  const double* const below_front = grid.row(z - 1, y - 1);
  const double* const below_back = grid.row(z - 1, y + 1);
  const double* const above_front = grid.row(z + 1, y - 1);
  const double* const above_back = grid.row(z + 1, y + 1);
  double* __restrict const faces = scratch.faces.data();
  double* __restrict const edges = scratch.edges.data();
  for (int x = 0; x < grid.points()[0] + 2; ++x) {
    faces[x] = front[x] + back[x] + below[x] + above[x];
    edges[x] = below_front[x] + below_back[x] + above_front[x] + above_back[x];
  }
}

void declare(const Grid& results, std::uint64_t ops, std::uint64_t grids_read) {
  const std::uint64_t bytes = results.size() * sizeof(double) * grids_read;
  declare_work(points_in(results) * ops, bytes, bytes);
}

}  // namespace

std::size_t points_in(const Grid& grid) {
  std::size_t product = 1;
  for (const int each : grid.points()) product *= static_cast<std::size_t>(each);
  return product;
}

void residual(const Grid& u, const Grid& v, Grid& r, Scratch& scratch) {
  declare(u, kOpsOfResidual, 3);
  if (!u.stored()) return;
  prepare(scratch, u);
  const Triple points = u.points();
  const double* const faces = scratch.faces.data();
  const double* const edges = scratch.edges.data();
  for (int z = 1; z <= points[2]; ++z) {
    for (int y = 1; y <= points[1]; ++y) {
      add_neighbours(u, z, y, scratch);
      const double* const u_row = u.row(z, y);
      const double* const v_row = v.row(z, y);
      double* const r_row = r.row(z, y);
      for (int x = 1; x <= points[0]; ++x) {
        r_row[x] = v_row[x] - kOperator[0] * u_row[x] -
                   kOperator[2] * (edges[x] + faces[x - 1] + faces[x + 1]) -
                   kOperator[3] * (edges[x - 1] + edges[x + 1]);
      }
    }
  }
}

void smooth(const Grid& r, const Weights& weights, Grid& u, Scratch& scratch) {
  declare(r, kOpsOfSmoothing, 2);
  if (!r.stored()) return;
  prepare(scratch, r);
  const Triple points = r.points();
  const double* const faces = scratch.faces.data();
  const double* const edges = scratch.edges.data();
  for (int z = 1; z <= points[2]; ++z) {
    for (int y = 1; y <= points[1]; ++y) {
      add_neighbours(r, z, y, scratch);
      const double* const r_row = r.row(z, y);
      double* const u_row = u.row(z, y);
      for (int x = 1; x <= points[0]; ++x) {
        u_row[x] += weights[0] * r_row[x] + weights[1] * (r_row[x - 1] + r_row[x + 1] + faces[x]) +
                    weights[2] * (edges[x] + faces[x - 1] + faces[x + 1]);
      }
    }
  }
}

void restrict_to(const Grid& fine, Grid& coarse, Scratch& scratch) {
  declare(coarse, kOpsOfRestriction, 9);
  if (!coarse.stored()) return;
  prepare(scratch, fine);
  const Triple points = coarse.points();
  const double* const faces = scratch.faces.data();
  const double* const edges = scratch.edges.data();
  for (int z = 1; z <= points[2]; ++z) {
    for (int y = 1; y <= points[1]; ++y) {
      add_neighbours(fine, 2 * z, 2 * y, scratch);
      const double* const middle = fine.row(2 * z, 2 * y);
      double* const to = coarse.row(z, y);
      for (int x = 1; x <= points[0]; ++x) {
        const int at = 2 * x;
        to[x] = 0.5 * middle[at] + 0.25 * (middle[at - 1] + middle[at + 1] + faces[at]) +
                0.125 * (faces[at - 1] + faces[at + 1] + edges[at]) +
                0.0625 * (edges[at - 1] + edges[at + 1]);
      }
    }
  }
}

void interpolate(const Grid& coarse, Triple from, Grid& fine, Scratch& scratch) {
  declare(fine, kOpsOfInterpolation, 2);
  if (!fine.stored()) return;
  prepare(scratch, coarse);
  const Triple points = fine.points();
  double* const sums = scratch.faces.data();  // over the coarse rows beside a fine one
  const int count = points[0] / 2 + 2;
  for (int z = 0; z <= points[2] + 1; ++z) {
    for (int y = 0; y <= points[1] + 1; ++y) {
      const int low_z = from[2] + z / 2;
      const int low_y = from[1] + y / 2;
      double scale = 1;
      const double* const first = coarse.row(low_z, low_y) + from[0];
      std::copy_n(first, count, sums);
      const auto add = [&](int z_at, int y_at) {
        const double* const row = coarse.row(z_at, y_at) + from[0];
        for (int x = 0; x < count; ++x) sums[x] += row[x];
        scale /= 2;
      };
      if (y % 2 == 1) add(low_z, low_y + 1);
      if (z % 2 == 1) add(low_z + 1, low_y);
      if (z % 2 == 1 && y % 2 == 1) {
        add(low_z + 1, low_y + 1);
        scale = 0.25;
      }
      double* const to = fine.row(z, y);
      for (int x = 0; x + 1 < count; ++x) {
        to[2 * x] += scale * sums[x];
        to[2 * x + 1] += 0.5 * scale * (sums[x] + sums[x + 1]);
      }
    }
  }
}

double sum_of_squares(const Grid& grid) {
  declare(grid, 3, 1);
  if (!grid.stored()) return 0;
  const Triple points = grid.points();
  double sum = 0;
  for (int z = 1; z <= points[2]; ++z) {
    for (int y = 1; y <= points[1]; ++y) {
      const double* const row = grid.row(z, y);
      for (int x = 1; x <= points[0]; ++x) sum += row[x] * row[x];
    }
  }
  return sum;
}

}  // namespace npb
