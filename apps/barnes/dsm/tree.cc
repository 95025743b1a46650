#include "apps/barnes/dsm/tree.h"

#include <algorithm>
#include <utility>

namespace barnes {

bool Tree::build(std::span<const Body> bodies) {
  all_ = bodies;
  Vector least = bodies.front().position;
  Vector greatest = least;
  for (const Body& body : bodies) {
    const Vector& at = body.position;
    least = {std::min(least.x, at.x), std::min(least.y, at.y), std::min(least.z, at.z)};
    greatest = {std::max(greatest.x, at.x), std::max(greatest.y, at.y), std::max(greatest.z, at.z)};
  }
  cells_.assign(1, Cell{});
  cells_.front().cube = cube_around(least, greatest);
  for (std::uint32_t body = 0; body < bodies.size(); ++body) {
    if (!insert(body)) return false;
  }
  for (std::size_t i = cells_.size(); i-- > 0;) add_masses_of(cells_[i]);
  build_operations_ += cells_.size() * kMassOps;
  return true;
}

bool Tree::insert(std::uint32_t body) {
  const Vector at = all_[body].position;
  std::size_t number = 0;
  for (std::size_t level = 0; level < kLevelsMax; ++level) {
    build_operations_ += kDescendOps;
    const std::size_t octant = octant_of(at, cells_[number].cube.centre);
    const std::uint32_t child = cells_[number].children[octant];
    const bool leaf = (cells_[number].leaves >> octant & 1) != 0;
    if (child == 0) {
      cells_[number].children[octant] = body + 1;
      cells_[number].leaves |= 1u << octant;
      return true;
    }
    if (!leaf) {
      number = child - 1;
      continue;
    }
    Cell below;
    below.cube = child_of(cells_[number].cube, octant);
    const std::size_t place = octant_of(all_[child - 1].position, below.cube.centre);
    below.children[place] = child;
    below.leaves = 1u << place;
    const std::size_t made = cells_.size();
    cells_.push_back(below);
    cells_[number].children[octant] = static_cast<std::uint32_t>(made + 1);
    cells_[number].leaves &= ~(1u << octant);
    number = made;
  }
  return false;
}

void Tree::add_masses_of(Cell& cell) {
  Vector moment;
  for (std::size_t octant = 0; octant < 8; ++octant) {
    const std::uint32_t child = cell.children[octant];
    if (child == 0) continue;
    if ((cell.leaves >> octant & 1) != 0) {
      const Body& body = all_[child - 1];
      cell.mass += body.mass;
      moment += body.mass * body.position;
      ++cell.bodies;
    } else {
      const Cell& below = cells_[child - 1];
      cell.mass += below.mass;
      moment += below.mass * below.mass_centre;
      cell.bodies += below.bodies;
    }
  }
  cell.mass_centre = 1 / cell.mass * moment;
}

Vector Tree::force_on(std::size_t number) {
  walk_.begin(all_[number].position, 1);
  for (Walk<std::uint32_t>::Item item{}; walk_.next(&item);) {
    if (!item.is_body) {
      walk_.visit(cells_[item.id - 1]);
    } else if (item.id - 1 != number) {
      walk_.add_body(all_[item.id - 1]);
    }
  }
  return walk_.force();
}

std::uint64_t Tree::take_operations() {
  const std::uint64_t all = build_operations_ + walk_.operations();
  return all - std::exchange(taken_operations_, all);
}

}  // namespace barnes
