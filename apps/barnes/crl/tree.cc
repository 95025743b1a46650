#include "apps/barnes/crl/tree.h"

#include <algorithm>
#include <limits>

#include "fairlead/run/fairlead.h"

namespace barnes {
namespace {

using fairlead::crl::read_guard;
using fairlead::crl::write_guard;

void declare_work(std::uint64_t ops) {
  if (fairlead_work != nullptr) fairlead_work(ops, 0, 0);
}

}  // namespace

Mapped::~Mapped() {
  for (void* const each : all_) rgn_unmap(each);
}

void* Mapped::map_first(crl_rid_t id) {
  if (id >= at_.size()) at_.resize(id + 1);
  all_.push_back(rgn_map(id));
  return at_[id] = all_.back();
}

Tree::Tree(Mapped& mapped) : mapped_(mapped), by_level_(kLevelsMax + 1) {
  if (crl_self_addr() == 0) {
    root_ = rgn_create(sizeof(Cell));
    if (crl_num_nodes() > 1) rgn_bcast_send(sizeof root_, &root_);
  } else {
    rgn_bcast_recv(sizeof root_, &root_);
  }
}

bool Tree::build(const std::vector<crl_rid_t>& bodies) {
  begin(bodies);
  bool apart = true;
  for (const crl_rid_t body : bodies) apart = apart && insert(body);
  if (rgn_reduce_dmin(apart ? 1 : 0) < 1) return false;
  add_masses();
  return true;
}

// The root is the least cube around all bodies, and empty.
void Tree::begin(const std::vector<crl_rid_t>& bodies) {
  constexpr double kFar = std::numeric_limits<double>::max();
  Vector least{kFar, kFar, kFar};
  Vector greatest{-kFar, -kFar, -kFar};
  for (const crl_rid_t id : bodies) {
    const read_guard<Body> body(mapped_.body(id));
    least.x = std::min(least.x, body->position.x);
    least.y = std::min(least.y, body->position.y);
    least.z = std::min(least.z, body->position.z);
    greatest.x = std::max(greatest.x, body->position.x);
    greatest.y = std::max(greatest.y, body->position.y);
    greatest.z = std::max(greatest.z, body->position.z);
  }
  least = {rgn_reduce_dmin(least.x), rgn_reduce_dmin(least.y), rgn_reduce_dmin(least.z)};
  greatest = {rgn_reduce_dmax(greatest.x), rgn_reduce_dmax(greatest.y),
              rgn_reduce_dmax(greatest.z)};
  used_ = 0;
  for (std::vector<crl_rid_t>& level : by_level_) level.clear();
  if (crl_self_addr() == 0) {
    const write_guard<Cell> root(mapped_.cell(root_));
    *root = {};
    root->cube = cube_around(least, greatest);
    by_level_[0].push_back(root_);
  }
  rgn_barrier();
}

crl_rid_t Tree::new_cell(const Cube& cube, std::size_t level) {
  if (used_ == own_.size()) own_.push_back(rgn_create(sizeof(Cell)));
  const crl_rid_t id = own_[used_++];
  const write_guard<Cell> cell(mapped_.cell(id));
  *cell = {};
  cell->cube = cube;
  by_level_[level].push_back(id);
  return id;
}

// Cells that are there are read on the way down. Who finds a free place, or a body in its own
// one's, looks again when it has the cell to write: another rank may have been here.
bool Tree::insert(crl_rid_t body) {
  const Vector at = [&] {
    const read_guard<Body> own(mapped_.body(body));
    return own->position;
  }();
  crl_rid_t id = root_;
  for (std::size_t level = 0; level < kLevelsMax; ++level) {
    Cell* const memory = mapped_.cell(id);
    declare_work(kDescendOps);
    {
      const read_guard<Cell> cell(memory);
      const std::size_t octant = octant_of(at, cell->cube.centre);
      const bool goes_on = cell->children[octant] != 0 && (cell->leaves >> octant & 1) == 0;
      id = goes_on ? cell->children[octant] : 0;
    }
    if (id != 0) continue;
    const write_guard<Cell> cell(memory);
    const std::size_t octant = octant_of(at, cell->cube.centre);
    crl_rid_t& child = cell->children[octant];
    if (child == 0) {
      child = body;
      cell->leaves |= 1u << octant;
      return true;
    }
    if ((cell->leaves >> octant & 1) != 0) {
      const crl_rid_t other = child;
      const crl_rid_t made = new_cell(child_of(cell->cube, octant), level + 1);
      const read_guard<Body> there(mapped_.body(other));
      const write_guard<Cell> below(mapped_.cell(made));
      const std::size_t place = octant_of(there->position, below->cube.centre);
      below->children[place] = other;
      below->leaves = 1u << place;
      child = made;
      cell->leaves &= ~(1u << octant);
    }
    id = child;
  }
  return false;
}

// Level by level, the deepest first, so that a cell's children have theirs.
void Tree::add_masses() {
  std::size_t deepest = kLevelsMax;
  while (deepest > 0 && by_level_[deepest].empty()) --deepest;
  deepest = static_cast<std::size_t>(rgn_reduce_dmax(static_cast<double>(deepest)));
  for (std::size_t level = deepest + 1; level-- > 0;) {
    for (const crl_rid_t id : by_level_[level]) add_masses_of(id);
    rgn_barrier();
  }
}

void Tree::add_masses_of(crl_rid_t id) {
  declare_work(kMassOps);
  const write_guard<Cell> cell(mapped_.cell(id));
  Vector moment;
  for (std::size_t octant = 0; octant < 8; ++octant) {
    const crl_rid_t child = cell->children[octant];
    if (child == 0) continue;
    if ((cell->leaves >> octant & 1) != 0) {
      const read_guard<Body> body(mapped_.body(child));
      cell->mass += body->mass;
      moment += body->mass * body->position;
      ++cell->bodies;
    } else {
      const read_guard<Cell> below(mapped_.cell(child));
      cell->mass += below->mass;
      moment += below->mass * below->mass_centre;
      cell->bodies += below->bodies;
    }
  }
  cell->mass_centre = 1 / cell->mass * moment;
}

}  // namespace barnes
