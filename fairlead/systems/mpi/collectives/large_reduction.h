// A reduction of a large vector on one node, as the ways without messages are given it
// (reduce_without_messages.h).
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

constexpr int kAllRoots = -1;

// One call of one member. `result` is used at `root` only, or everywhere; it may be `own`.
struct LargeReduction {
  Process& process;
  Comm& comm;
  CollectiveKind kind;
  const char* call;
  const void* own;
  void* result;
  const Operand& operand;
  int root;

  bool has_result(int member) const { return root == kAllRoots || root == member; }
  std::uint64_t offset_of(Part part) const { return part.first * operand.element; }
  std::uint64_t bytes_of(Part part) const { return part.count * operand.element; }
};

}  // namespace fairlead::mpi
