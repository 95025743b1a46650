// The V-cycles of MG on a box of ranks. Grids that have two points or more a side on each rank are
// shared out; coarser ones, which have a few points in all, every rank has whole and computes by
// itself, after an exchange of the ranks' parts.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/npb/mg/grid.h"

namespace npb {

struct MgClass {
  char name;
  int log2_points;  // a side of the finest grid
  int steps;
  Weights smoother;
  double norm;  // of the last residual, as published

  int points() const { return 1 << log2_points; }
};

// The ranks along each axis, as NPB has them: z is split first, then y, then x.
Triple box_of(int ranks);

// All calls but the constructor's are collective over MPI_COMM_WORLD. The ranks are a power of two
// and leave each at least two points of the finest grid a side.
class Multigrid {
 public:
  // declared: grids have no values.
  Multigrid(const MgClass& of, int rank, int ranks, bool declared);

  // u = 0; the right-hand side: 1 where the random numbers of all points are greatest, ten times,
  // and -1 where they are least.
  void begin();
  // r = v - A u on the finest grid.
  void update_residual();
  // One cycle: u += M r.
  void cycle();
  // The residual's root mean square.
  double norm() const;

 private:
  struct Level {
    int points = 0;      // a side
    bool whole = false;  // on every rank
    Grid u;
    Grid r;
  };

  Level& level(int k) { return levels_[static_cast<std::size_t>(k - 1)]; }
  const Level& finest() const { return levels_.back(); }
  void restrict_from(int k);
  void interpolate_to(int k);
  void smooth_on(int k);
  void fill_ghosts(Grid& grid, bool whole);
  void exchange(Grid& grid, int axis);
  void gather(const Grid& part, Grid& whole);
  Triple first_point(int points) const;
  int neighbour(int axis, int direction) const;

  const MgClass& class_;
  const int ranks_;
  const bool declared_;
  const Triple box_;
  Triple place_{};
  std::vector<Level> levels_;  // the coarsest first: 2 points a side
  Grid v_;
  Scratch scratch_;
  std::vector<double> outgoing_;
  std::vector<double> incoming_;
};

}  // namespace npb
