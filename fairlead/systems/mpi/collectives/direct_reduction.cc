#include "fairlead/systems/mpi/collectives/direct_reduction.h"

#include <algorithm>

#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {
namespace {

class DirectReduction {
 public:
  DirectReduction(const LargeReduction& of, DirectCall& direct)
      : of_(of),
        comm_(of.comm),
        operand_(of.operand),
        direct_(direct),
        blocks_(of.process, 2 * kDirectReductionBlockBytes) {}

  void run() {
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
  // Combines all vectors in rank order, into the own result where there is one; returns where it
  // is.
  const std::byte* combine(Part block) {
    std::byte* const sums = blocks_.data();
    std::byte* const arrived = sums + kDirectReductionBlockBytes;
    const auto of = [&](int member, std::byte* to) -> const std::byte* {
      if (member == comm_.rank) return at(of_.own, of_.offset_of(block));
      direct_.fetch(member, DirectCall::kIn, of_.offset_of(block), to, of_.bytes_of(block));
      return to;
    };
    const std::byte* sum = of(0, sums);
    for (int r = 1; r < comm_.size; ++r) {
      const bool here = r == comm_.size - 1 && of_.has_result(comm_.rank);
      std::byte* const to = here ? at(of_.result, of_.offset_of(block)) : sums;
      operand_.combine(sum, of(r, arrived), to, block.count);
      sum = to;
    }
    return sum;
  }
  void hand_out(Part block, const std::byte* sum) {
    for (int i = 1; i < comm_.size; ++i) {
      const int member = (comm_.rank + i) % comm_.size;
      if (!of_.has_result(member)) continue;
      direct_.store(sum, member, DirectCall::kOut, of_.offset_of(block), of_.bytes_of(block));
    }
  }

  const LargeReduction& of_;
  const Comm& comm_;
  const Operand& operand_;
  DirectCall& direct_;
  Scratch blocks_;  // one for sums, one for what arrives
};

}  // namespace

void reduce_directly(const LargeReduction& reduction, DirectCall& direct) {
  DirectReduction(reduction, direct).run();
}

}  // namespace fairlead::mpi
