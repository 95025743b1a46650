#include "apps/barnes/forces.h"

#include <cmath>

#include "fairlead/run/fairlead.h"

namespace barnes {
namespace {

using fairlead::crl::read_guard;

// A region looked at: taken from the stack, its memory looked up, distance squared (8), the
// comparison with the cube (10) and of the body's place with it (12), children pushed. Fitted, as
// theta is: the paper's problem takes its sequential time on the PPro (table VII).
constexpr std::uint64_t kVisitOps = 65;
// A region added up: the softened square (3), a square root of 69 and a division of 38 clocks on a
// P6, which do not overlap, and 8 multiplications and additions of 3 to 5 clocks.
constexpr std::uint64_t kInteractionOps = 145;

bool is_within(const Vector& at, const Cell& cell) {
  const Vector off = at - cell.centre;
  return std::fabs(off.x) <= cell.half && std::fabs(off.y) <= cell.half &&
         std::fabs(off.z) <= cell.half;
}

}  // namespace

// What is visited is in the caches, where the body before has brought it: no memory is declared.
void Forces::declare_work() {
  if (fairlead_work != nullptr) {
    fairlead_work((visits_ - declared_visits_) * kVisitOps +
                      (interactions_ - declared_interactions_) * kInteractionOps,
                  0, 0);
  }
  declared_visits_ = visits_;
  declared_interactions_ = interactions_;
}

void Forces::add(const Vector& at, const Vector& other, double mass, Vector& sum) {
  ++interactions_;
  sum += attraction(other - at, mass);
}

// A cell that has the body in it is never taken as one.
void Forces::visit_cell(const Cell& cell, const Vector& at, Vector& sum) {
  const double side = 2 * cell.half;
  if (side * side < theta_squared_ * square(cell.mass_centre - at) && !is_within(at, cell)) {
    add(at, cell.mass_centre, cell.mass, sum);
    return;
  }
  for (std::size_t octant = 8; octant-- > 0;) {
    if (cell.children[octant] == 0) continue;
    to_visit_.push_back({cell.children[octant], (cell.leaves >> octant & 1) != 0});
  }
}

Vector Forces::on(crl_rid_t id, crl_rid_t root) {
  const Vector at = [&] {
    const read_guard<Body> own(mapped_.body(id));
    return own->position;
  }();
  Vector sum;
  to_visit_.assign(1, {root, false});
  while (!to_visit_.empty()) {
    const Item item = to_visit_.back();
    to_visit_.pop_back();
    if (item.id == id) continue;
    if (item.is_body) {
      const read_guard<Body> other(mapped_.body(item.id));
      add(at, other->position, other->mass, sum);
    } else {
      const read_guard<Cell> cell(mapped_.cell(item.id));
      visit_cell(*cell, at, sum);
    }
    if (++visits_ % kDeclareEvery == 0) declare_work();
  }
  declare_work();
  return sum;
}

}  // namespace barnes
