#include "fairlead/systems/mpi/collectives/direct_reduction.h"

#include <algorithm>

#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/direct_call.h"
#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {
namespace {

class DirectReduction {
 public:
  DirectReduction(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                  const Operand& operand, const void* own, void* result, int root)
      : comm_(comm),
        operand_(operand),
        root_(root),
        own_(own),
        result_(result),
        direct_(process, comm, kind, call, operand.bytes()),
        blocks_(process, 2 * kDirectReductionBlockBytes) {
    // Only read through; the port takes a plain pointer because segments may also be written.
    direct_.expose(DirectCall::kIn, const_cast<void*>(own), lci::kRead);
    if (has_result(comm.rank)) direct_.expose(DirectCall::kOut, result, lci::kWrite);
  }

  void run() {
    // All have entered their vectors.
    direct_.meet();
    const Part part = part_of(operand_, comm_.rank, comm_.size);
    const std::uint64_t most = kDirectReductionBlockBytes / operand_.element;
    for (std::uint64_t done = 0; done < part.count; done += most) {
      const Part block{part.first + done, std::min(most, part.count - done)};
      hand_out(block, combine(block));
    }
    // All results are there.
    direct_.meet();
  }

 private:
  bool has_result(int member) const { return root_ == kAllRoots || root_ == member; }
  std::uint64_t offset_of(Part part) const { return part.first * operand_.element; }
  std::uint64_t bytes_of(Part part) const { return part.count * operand_.element; }

  // Of all vectors, in rank order; into the own result where there is one. Answers where it is.
  const std::byte* combine(Part block) {
    std::byte* const sums = blocks_.data();
    std::byte* const arrived = sums + kDirectReductionBlockBytes;
    const auto of = [&](int member, std::byte* to) -> const std::byte* {
      if (member == comm_.rank) return at(own_, offset_of(block));
      direct_.fetch(member, DirectCall::kIn, offset_of(block), to, bytes_of(block));
      return to;
    };
    const std::byte* sum = of(0, sums);
    for (int r = 1; r < comm_.size; ++r) {
      const bool here = r == comm_.size - 1 && has_result(comm_.rank);
      std::byte* const to = here ? at(result_, offset_of(block)) : sums;
      operand_.combine(sum, of(r, arrived), to, block.count);
      sum = to;
    }
    return sum;
  }
  void hand_out(Part block, const std::byte* sum) {
    for (int i = 1; i < comm_.size; ++i) {
      const int member = (comm_.rank + i) % comm_.size;
      if (!has_result(member)) continue;
      direct_.store(sum, member, DirectCall::kOut, offset_of(block), bytes_of(block));
    }
  }

  const Comm& comm_;
  const Operand& operand_;
  const int root_;
  const void* own_;
  void* result_;
  DirectCall direct_;
  Scratch blocks_;  // one for sums, one for what arrives
};

}  // namespace

bool reduce_directly(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                     const void* own, void* result, const Operand& operand, int root) {
  const std::uint64_t part = operand.bytes() / static_cast<std::uint64_t>(comm.size);
  if (comm.size < 2 || part < kDirectReductionPartBytes) return false;
  if (!DirectCall::possible(process, comm, kind, call)) return false;
  DirectReduction(process, comm, kind, call, operand, own, result, root).run();
  return true;
}

}  // namespace fairlead::mpi
