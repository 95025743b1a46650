// The oct-tree of all bodies as each rank builds it for itself, and the walks through it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/barnes/octants.h"

namespace barnes {

class Tree {
 public:
  explicit Tree(double theta) : theta_squared_(theta * theta) {}

  // Reads them all, and again in the walks: they stay as they are until the last. false: two lie at
  // one place.
  bool build(std::span<const Body> bodies);
  // Returns the force on body `number`.
  Vector force_on(std::size_t number);
  // Bodies in the tree, by its root.
  std::uint64_t bodies() const { return cells_.front().bodies; }

  // Since the beginning: cells and bodies looked at, and those that were added up.
  std::uint64_t visits() const { return visits_; }
  std::uint64_t interactions() const { return interactions_; }
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
  struct Item {
    std::uint32_t child;
    bool is_body;
  };

  bool insert(std::uint32_t body);
  void add_masses_of(Cell& cell);
  void add(const Vector& at, const Vector& other, double mass, Vector& sum);
  void visit_cell(const Cell& cell, const Vector& at, Vector& sum);

  const double theta_squared_;
  std::span<const Body> all_;
  std::vector<Cell> cells_;  // each behind the one it is in
  std::vector<Item> to_visit_;
  std::uint64_t visits_ = 0;
  std::uint64_t interactions_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace barnes
