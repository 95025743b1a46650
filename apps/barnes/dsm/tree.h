// The oct-tree of all bodies as each rank builds it for itself, and the walks through it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/barnes/walk.h"

namespace barnes {

class Tree {
 public:
  explicit Tree(double theta) : walk_(theta) {}

  // Reads them all, and again in the walks: they stay as they are until the last. false: two lie at
  // one place.
  bool build(std::span<const Body> bodies);
  // Returns the force on body `number`.
  Vector force_on(std::size_t number);
  // Bodies in the tree, by its root.
  std::uint64_t bodies() const { return cells_.front().bodies; }

  // Since the beginning: cells and bodies looked at, and those that were added up.
  std::uint64_t visits() const { return walk_.visits(); }
  std::uint64_t interactions() const { return walk_.interactions(); }
  // Operations since it was last asked.
  std::uint64_t take_operations();

 private:
  // Cell and body by the number plus one, 0: nothing is there.
  struct Cell {
    Cube cube;
    Vector mass_centre;
    double mass = 0;
    std::array<std::uint32_t, 8> children{};
    std::uint32_t leaves = 0;  // bit by child: it is a body
    std::uint32_t bodies = 0;  // below
  };

  bool insert(std::uint32_t body);
  void add_masses_of(Cell& cell);

  std::span<const Body> all_;
  std::vector<Cell> cells_;  // each behind the one it is in
  Walk<std::uint32_t> walk_;
  std::uint64_t build_operations_ = 0;
  std::uint64_t taken_operations_ = 0;
};

}  // namespace barnes
