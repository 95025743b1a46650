// The cubes of the oct-tree: which cells there are, and what is in them, depends on where the
// bodies are alone. And what the steps cost, the same for every system.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "apps/barnes/galaxy.h"

namespace barnes {

// Halves of the root cube: a body there is told from one that is 2^-60 cubes away.
constexpr std::size_t kLevelsMax = 60;

inline std::size_t octant_of(const Vector& at, const Vector& centre) {
  return (at.x >= centre.x ? 4u : 0u) | (at.y >= centre.y ? 2u : 0u) | (at.z >= centre.z ? 1u : 0u);
}

struct Cube {
  Vector centre;
  double half = 0;

  bool has(const Vector& at) const {
    const Vector off = at - centre;
    return std::fabs(off.x) <= half && std::fabs(off.y) <= half && std::fabs(off.z) <= half;
  }
};

inline Cube child_of(const Cube& cube, std::size_t octant) {
  const double quarter = cube.half / 2;
  return {{cube.centre.x + ((octant & 4) != 0 ? quarter : -quarter),
           cube.centre.y + ((octant & 2) != 0 ? quarter : -quarter),
           cube.centre.z + ((octant & 1) != 0 ? quarter : -quarter)},
          quarter};
}

// The least cube, and a little more, around all that lies between the two corners.
Cube cube_around(const Vector& least, const Vector& greatest);

// What cells that count as one body may do to forces, in the mean of all bodies and in units of the
// force itself, for theta up to 1: what is left out grows with the square of theta. Without such
// cells only the order of the sum differs.
inline double error_allowed(double theta) { return 0.04 * theta * theta + 1e-12; }

// Operations of the steps, as Port::charge takes them.
// On the way down, a cell: three comparisons with their loads and branches, the child's id, whether
// it is a body, the look-up of its memory. A cell's masses: eight children with four
// multiplications and additions each, a division.
constexpr std::uint64_t kDescendOps = 60;
constexpr std::uint64_t kMassOps = 250;
// A cell or body looked at: taken from the stack, its memory looked up, distance squared (8), the
// comparison with the cube (10) and of the body's place with it (12), children pushed. Fitted, as
// theta is: the LCI paper's problem takes its sequential time on the PPro (table VII).
constexpr std::uint64_t kVisitOps = 65;
// One of them added up: the softened square (3), a square root of 69 and a division of 38 clocks on
// a P6, which do not overlap, and 8 multiplications and additions of 3 to 5 clocks.
constexpr std::uint64_t kInteractionOps = 145;
// One body moved: six multiplications and additions with their loads and stores.
constexpr std::uint64_t kMoveOps = 30;

}  // namespace barnes
