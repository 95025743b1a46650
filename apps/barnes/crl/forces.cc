#include "apps/barnes/crl/forces.h"

#include "fairlead/run/fairlead.h"

namespace barnes {
namespace {

using fairlead::crl::read_guard;

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
  const double side = 2 * cell.cube.half;
  if (side * side < theta_squared_ * square(cell.mass_centre - at) && !cell.cube.has(at)) {
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
