#include "apps/barnes/octants.h"

#include <algorithm>

namespace barnes {

Cube cube_around(const Vector& least, const Vector& greatest) {
  const Vector sides = greatest - least;
  return {{(least.x + greatest.x) / 2, (least.y + greatest.y) / 2, (least.z + greatest.z) / 2},
          std::max({sides.x, sides.y, sides.z}) / 2 * (1 + 1e-9)};
}

}  // namespace barnes
