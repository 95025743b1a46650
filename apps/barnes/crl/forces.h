// The force on a body, by a walk through the tree.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/barnes/crl/tree.h"

namespace barnes {

class Forces {
 public:
  Forces(Mapped& mapped, double theta) : mapped_(mapped), theta_squared_(theta * theta) {}

  // Returns the force on body `id`, from the tree below `root`.
  Vector on(crl_rid_t id, crl_rid_t root);
  // Since the beginning: cells and bodies looked at, and those that were added up.
  std::uint64_t visits() const { return visits_; }
  std::uint64_t interactions() const { return interactions_; }

 private:
  // Work is declared once for so many regions looked at: other ranks' requests come between.
  static constexpr std::uint64_t kDeclareEvery = 16;

  struct Item {
    crl_rid_t id;
    bool is_body;
  };
  void add(const Vector& at, const Vector& other, double mass, Vector& sum);
  void visit_cell(const Cell& cell, const Vector& at, Vector& sum);
  void declare_work();

  Mapped& mapped_;
  double theta_squared_;
  std::vector<Item> to_visit_;
  std::uint64_t visits_ = 0;
  std::uint64_t interactions_ = 0;
  std::uint64_t declared_visits_ = 0;
  std::uint64_t declared_interactions_ = 0;
};

}  // namespace barnes
