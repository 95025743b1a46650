// The oct-tree of all bodies, shared: each cell is a CRL region at the rank that made it, each body
// one at its owner. Neither the number of ranks nor who came first changes it (octants.h).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/barnes/octants.h"
#include "fairlead/systems/crl/crl.h"

namespace barnes {

struct Cell {
  Vector mass_centre;
  double mass = 0;
  Cube cube;
  std::array<crl_rid_t, 8> children{};  // 0: nothing is there
  std::uint32_t leaves = 0;             // bit by child: it is a body
  std::uint32_t bodies = 0;             // below
};
static_assert(sizeof(Cell) == 104, "within the LCI paper's 88 to 108 bytes, section 7");

// The regions that this rank uses stay mapped until the end.
class Mapped {
 public:
  Mapped() = default;
  ~Mapped();
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  Cell* cell(crl_rid_t id) { return static_cast<Cell*>(map(id)); }
  Body* body(crl_rid_t id) { return static_cast<Body*>(map(id)); }

 private:
  void* map(crl_rid_t id) {
    if (id < at_.size() && at_[id] != nullptr) [[likely]]
      return at_[id];
    return map_first(id);
  }
  void* map_first(crl_rid_t id);

  // By id: ids are small numbers, in turn for all ranks. Every visit of a walk looks here.
  std::vector<void*> at_;
  std::vector<void*> all_;  // in the order in which they were mapped
};

class Tree {
 public:
  // Every rank makes it.
  explicit Tree(Mapped& mapped);

  // Every rank calls these in this order, each with its own bodies. The tree is there, whole, when
  // build returns. false: two bodies lie at one place.
  bool build(const std::vector<crl_rid_t>& bodies);
  crl_rid_t root() const { return root_; }
  // Returns how many cells the last build made.
  std::uint64_t cells_made() const { return used_; }

 private:
  void begin(const std::vector<crl_rid_t>& bodies);
  bool insert(crl_rid_t body);
  crl_rid_t new_cell(const Cube& cube, std::size_t level);
  void add_masses();
  void add_masses_of(crl_rid_t id);

  Mapped& mapped_;
  crl_rid_t root_ = 0;
  std::vector<crl_rid_t> own_;  // cells of this rank: the same regions again in each build
  std::size_t used_ = 0;
  std::vector<std::vector<crl_rid_t>> by_level_;  // own cells that are in use
};

}  // namespace barnes
