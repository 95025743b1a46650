// Reductions of large vectors on one node, without messages. Two ways: the kernel copies from and
// to the members' own vectors (direct_reduction.h); or pieces pass through memory that all
// map (shared_reduction.h). Which is faster depends on the caches that the processors
// share: the first member measures and says on the board which way all take.
#pragma once
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

// The operands are combined in rank order, whatever the root and the way. False: nothing was done,
// as the vectors are short or no way is open to all; it is the same for all.
bool reduce_without_messages(const LargeReduction& reduction);

}  // namespace fairlead::mpi
