#include "apps/npb/mg/multigrid.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/common/random.h"

namespace npb {
namespace {

constexpr std::size_t kCharges = 10;  // of each sign
constexpr std::uint64_t kOpsPerNumber = 8;

struct Charge {
  double value;
  std::int64_t point;
};

// The charges that come first in `order`, of those offered.
template <class Order>
class Best {
 public:
  void offer(Charge charge) {
    if (count_ == kCharges && !order_(charge, best_[count_ - 1])) return;
    std::size_t at = count_ < kCharges ? count_++ : kCharges - 1;
    for (; at > 0 && order_(charge, best_[at - 1]); --at) best_[at] = best_[at - 1];
    best_[at] = charge;
  }
  // Those of all ranks. Collective.
  void agree(int ranks) {
    for (std::size_t i = count_; i < kCharges; ++i) best_[i] = {0, -1};
    std::vector<Charge> all(kCharges * static_cast<std::size_t>(ranks));
    MPI_Allgather(best_.data(), sizeof best_, MPI_BYTE, all.data(), sizeof best_, MPI_BYTE,
                  MPI_COMM_WORLD);
    count_ = 0;
    for (const Charge& each : all) {
      if (each.point >= 0) offer(each);
    }
  }
  const std::array<Charge, kCharges>& charges() const { return best_; }

 private:
  Order order_;
  std::array<Charge, kCharges> best_{};
  std::size_t count_ = 0;
};

struct Greater {
  bool operator()(const Charge& a, const Charge& b) const { return a.value > b.value; }
};
struct Less {
  bool operator()(const Charge& a, const Charge& b) const { return a.value < b.value; }
};

// A plane across `axis`, with the ghosts of the axes before it, which have been filled.
template <class Visit>
void visit_plane(Grid& grid, int axis, int at, Visit visit) {
  const Triple points = grid.points();
  const Triple first = {0, axis > 0 ? 0 : 1, axis > 1 ? 0 : 1};
  const Triple last = {points[0] + 1, points[1] + (axis > 0 ? 1 : 0),
                       points[2] + (axis > 1 ? 1 : 0)};
  const int z_begin = axis == 2 ? at : first[2];
  const int z_end = axis == 2 ? at : last[2];
  const int y_begin = axis == 1 ? at : first[1];
  const int y_end = axis == 1 ? at : last[1];
  for (int z = z_begin; z <= z_end; ++z) {
    for (int y = y_begin; y <= y_end; ++y) {
      double* const row = grid.row(z, y);
      if (axis == 0) {
        visit(row + at, 1);
      } else {
        visit(row, points[0] + 2);
      }
    }
  }
}

std::size_t plane_size(const Grid& grid, int axis) {
  const Triple points = grid.points();
  const auto length = [&](std::size_t of, int ghosts) {
    return static_cast<std::size_t>(points[of] + ghosts);
  };
  if (axis == 0) return length(1, 0) * length(2, 0);
  if (axis == 1) return length(0, 2) * length(2, 0);
  return length(0, 2) * length(1, 2);
}

void pack(Grid& grid, int axis, int at, std::vector<double>& to) {
  to.clear();
  if (!grid.stored()) {
    to.resize(plane_size(grid, axis));
    return;
  }
  visit_plane(grid, axis, at, [&to](const double* values, int count) {
    to.insert(to.end(), values, values + count);
  });
}

void unpack(const std::vector<double>& from, Grid& grid, int axis, int at) {
  if (!grid.stored()) return;
  const double* next = from.data();
  visit_plane(grid, axis, at, [&next](double* values, int count) {
    std::copy_n(next, count, values);
    next += count;
  });
}

}  // namespace

Triple box_of(int ranks) {
  int log = 0;
  while ((1 << log) < ranks) ++log;
  return {1 << (log / 3), 1 << ((log + 1) / 3), 1 << ((log + 2) / 3)};
}

Multigrid::Multigrid(const MgClass& of, int rank, int ranks, bool declared)
    : class_(of), ranks_(ranks), declared_(declared), box_(box_of(ranks)) {
  place_ = {rank % box_[0], rank / box_[0] % box_[1], rank / box_[0] / box_[1]};
  for (int k = 1; k <= of.log2_points; ++k) {
    Level& made = levels_.emplace_back();
    made.points = 1 << k;
    made.whole = ranks > 1 && made.points < 2 * box_[2];
    Triple points = {made.points, made.points, made.points};
    for (std::size_t axis = 0; axis < 3 && !made.whole; ++axis) points[axis] /= box_[axis];
    made.u = Grid(points, !declared);
    made.r = Grid(points, !declared);
  }
  v_ = Grid(finest().u.points(), !declared);
}

// Coordinates of the whole grid before this rank's first point.
Triple Multigrid::first_point(int points) const {
  Triple first{};
  for (std::size_t axis = 0; axis < 3; ++axis) first[axis] = points / box_[axis] * place_[axis];
  return first;
}

void Multigrid::begin() {
  const int n = class_.points();
  const Triple own = v_.points();
  const Triple first = first_point(n);
  Best<Greater> greatest;
  Best<Less> least;
  for (int z = 0; z < own[2] && !declared_; ++z) {
    for (int y = 0; y < own[1]; ++y) {
      const std::int64_t row = std::int64_t{n} * (first[2] + z) + first[1] + y;
      const std::int64_t point = row * n + first[0];
      Random random(Random::kSeed);
      random.skip(static_cast<std::uint64_t>(point));
      for (int x = 0; x < own[0]; ++x) {
        const Charge charge{random.next(), point + x};
        greatest.offer(charge);
        least.offer(charge);
      }
    }
  }
  declare_work(v_.size() * kOpsPerNumber, 0, 0);
  greatest.agree(ranks_);
  least.agree(ranks_);
  if (declared_) return;
  v_.clear();
  const auto put = [&](const Charge& charge, double value) {
    const Triple at = {static_cast<int>(charge.point % n) - first[0] + 1,
                       static_cast<int>(charge.point / n % n) - first[1] + 1,
                       static_cast<int>(charge.point / n / n) - first[2] + 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (at[axis] < 1 || at[axis] > own[axis]) return;
    }
    v_.at(at) = value;
  };
  for (const Charge& each : least.charges()) put(each, -1);
  for (const Charge& each : greatest.charges()) put(each, 1);
  levels_.back().u.clear();
}

void Multigrid::update_residual() {
  Level& top = levels_.back();
  residual(top.u, v_, top.r, scratch_);
  fill_ghosts(top.r, top.whole);
}

void Multigrid::cycle() {
  const int top = class_.log2_points;
  for (int k = top; k > 1; --k) restrict_from(k);
  level(1).u.clear();
  smooth_on(1);
  for (int k = 2; k < top; ++k) {
    Level& at = level(k);
    at.u.clear();
    interpolate_to(k);
    residual(at.u, at.r, at.r, scratch_);
    fill_ghosts(at.r, at.whole);
    smooth_on(k);
  }
  interpolate_to(top);
  update_residual();
  smooth_on(top);
}

double Multigrid::norm() const {
  const double own = sum_of_squares(finest().r);
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(all / std::pow(class_.points(), 3));
}

void Multigrid::restrict_from(int k) {
  const Level& fine = level(k);
  Level& coarse = level(k - 1);
  if (coarse.whole && !fine.whole) {
    Triple points = fine.r.points();
    for (int& each : points) each /= 2;
    Grid part(points, !declared_);
    restrict_to(fine.r, part, scratch_);
    gather(part, coarse.r);
  } else {
    restrict_to(fine.r, coarse.r, scratch_);
  }
  fill_ghosts(coarse.r, coarse.whole);
}

void Multigrid::interpolate_to(int k) {
  Level& fine = level(k);
  const Level& coarse = level(k - 1);
  const bool part = coarse.whole && !fine.whole;
  interpolate(coarse.u, part ? first_point(coarse.points) : Triple{}, fine.u, scratch_);
}

void Multigrid::smooth_on(int k) {
  Level& at = level(k);
  smooth(at.r, class_.smoother, at.u, scratch_);
  fill_ghosts(at.u, at.whole);
}

// The grids are periodic: a ghost is the point at the other end.
void Multigrid::fill_ghosts(Grid& grid, bool whole) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto index = static_cast<std::size_t>(axis);
    if (!whole && box_[index] > 1) {
      exchange(grid, axis);
      continue;
    }
    const int last = grid.points()[index];
    pack(grid, axis, last, outgoing_);
    unpack(outgoing_, grid, axis, 0);
    pack(grid, axis, 1, outgoing_);
    unpack(outgoing_, grid, axis, last + 1);
  }
}

void Multigrid::exchange(Grid& grid, int axis) {
  const int last = grid.points()[static_cast<std::size_t>(axis)];
  for (const int direction : {-1, 1}) {
    pack(grid, axis, direction < 0 ? 1 : last, outgoing_);
    incoming_.resize(outgoing_.size());
    const int count = static_cast<int>(outgoing_.size());
    const int tag = 2 * axis + (direction < 0 ? 0 : 1);
    MPI_Sendrecv(outgoing_.data(), count, MPI_DOUBLE, neighbour(axis, direction), tag,
                 incoming_.data(), count, MPI_DOUBLE, neighbour(axis, -direction), tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unpack(incoming_, grid, axis, direction < 0 ? last + 1 : 0);
  }
}

int Multigrid::neighbour(int axis, int direction) const {
  const auto index = static_cast<std::size_t>(axis);
  Triple at = place_;
  at[index] = (at[index] + direction + box_[index]) % box_[index];
  return at[0] + box_[0] * (at[1] + box_[1] * at[2]);
}

void Multigrid::gather(const Grid& part, Grid& whole) {
  const Triple points = part.points();
  outgoing_.clear();
  if (declared_) outgoing_.resize(points_in(part));
  for (int z = 1; z <= points[2] && !declared_; ++z) {
    for (int y = 1; y <= points[1]; ++y) {
      const double* const row = part.row(z, y) + 1;
      outgoing_.insert(outgoing_.end(), row, row + points[0]);
    }
  }
  const int count = static_cast<int>(outgoing_.size());
  incoming_.resize(outgoing_.size() * static_cast<std::size_t>(ranks_));
  MPI_Allgather(outgoing_.data(), count, MPI_DOUBLE, incoming_.data(), count, MPI_DOUBLE,
                MPI_COMM_WORLD);
  if (declared_) return;
  const double* from = incoming_.data();
  for (int rank = 0; rank < ranks_; ++rank) {
    const int x = points[0] * (rank % box_[0]);
    const int y = points[1] * (rank / box_[0] % box_[1]);
    const int z = points[2] * (rank / box_[0] / box_[1]);
    for (int dz = 1; dz <= points[2]; ++dz) {
      for (int dy = 1; dy <= points[1]; ++dy, from += points[0]) {
        std::copy_n(from, points[0], whole.row(z + dz, y + dy) + x + 1);
      }
    }
  }
}

}  // namespace npb
