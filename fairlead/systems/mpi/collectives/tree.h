// The binomial tree over ranks counted from the root.
#pragma once
#include <bit>

namespace fairlead::mpi {

struct Tree {
  Tree(int rank, int ranks, int top)
      : size(ranks), root(top), relative((rank - top + ranks) % ranks) {}

  // The children of a node are relative + step for the steps below limit(), as far as they exist;
  // its parent is relative - limit().
  int limit() const {
    return relative == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)))
                         : relative & -relative;
  }
  bool is_root() const { return relative == 0; }
  int parent() const { return rank_of(relative - limit()); }
  int rank_of(int node) const { return (node + root) % size; }
  // Ranks in the subtree of child `relative + step`.
  int subtree(int step) const {
    return step < size - relative - step ? step : size - relative - step;
  }

  // This rank and all below it.
  int below() const { return limit() < size - relative ? limit() : size - relative; }

  const int size;
  const int root;
  const int relative;
};

}  // namespace fairlead::mpi
