// A walk through the tree for the force on one body, whatever a system's cells and names of them
// are: the order in which masses are added is the same everywhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/barnes/octants.h"

namespace barnes {

// Id: names a cell or a body; 0 is none.
template <class Id>
class Walk {
 public:
  struct Item {
    Id id;
    bool is_body;
  };

  explicit Walk(double theta) : theta_squared_(theta * theta) {}

  // For the force on a body that is there.
  void begin(const Vector& at, Id root) {
    at_ = at;
    force_ = {};
    to_visit_.assign(1, {root, false});
  }
  // Returns false where nothing is left: force() is the whole.
  bool next(Item* item) {
    if (to_visit_.empty()) return false;
    *item = to_visit_.back();
    to_visit_.pop_back();
    return true;
  }
  void add_body(const Body& other) {
    ++visits_;
    add(other.position, other.mass);
  }
  // Counts it as one body, or has what is in it visited. A cell that has the body in it is never
  // taken as one. Cell: cube, mass_centre, mass, children by octant, leaves by bit.
  template <class Cell>
  void visit(const Cell& cell) {
    ++visits_;
    const double side = 2 * cell.cube.half;
    if (side * side < theta_squared_ * square(cell.mass_centre - at_) && !cell.cube.has(at_)) {
      return add(cell.mass_centre, cell.mass);
    }
    for (std::size_t octant = 8; octant-- > 0;) {
      if (cell.children[octant] == 0) continue;
      to_visit_.push_back({cell.children[octant], (cell.leaves >> octant & 1) != 0});
    }
  }
  const Vector& force() const { return force_; }

  // Since the first walk: cells and bodies looked at, and those that were added up.
  std::uint64_t visits() const { return visits_; }
  std::uint64_t interactions() const { return interactions_; }
  // What that cost.
  std::uint64_t operations() const { return visits_ * kVisitOps + interactions_ * kInteractionOps; }

 private:
  void add(const Vector& other, double mass) {
    ++interactions_;
    force_ += attraction(other - at_, mass);
  }

  const double theta_squared_;
  Vector at_;
  Vector force_;
  std::vector<Item> to_visit_;
  std::uint64_t visits_ = 0;
  std::uint64_t interactions_ = 0;
};

}  // namespace barnes
