// The force on a body, by a walk through the shared tree.
#pragma once
#include <cstdint>

#include "apps/barnes/crl/tree.h"
#include "apps/barnes/walk.h"

namespace barnes {

class Forces {
 public:
  Forces(Mapped& mapped, double theta) : mapped_(mapped), walk_(theta) {}

  // Returns the force on body `id`, from the tree below `root`.
  Vector on(crl_rid_t id, crl_rid_t root);
  // Since the beginning: cells and bodies looked at, and those that were added up.
  std::uint64_t visits() const { return walk_.visits(); }
  std::uint64_t interactions() const { return walk_.interactions(); }

 private:
  // Work is declared once for so many regions looked at: other ranks' requests come between.
  static constexpr std::uint64_t kDeclareEvery = 16;

  void declare_work();

  Mapped& mapped_;
  Walk<crl_rid_t> walk_;
  std::uint64_t declared_ = 0;  // operations
};

}  // namespace barnes
