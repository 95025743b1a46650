#include "fairlead/systems/mpi/collectives/direct_reduction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {
namespace {

// Combines that block of all members' vectors in rank order. The last step's sum is at `to`, the
// others' in `blocks`, which holds two: one for sums, one for what arrives.
void combine_block(DirectCall& direct, const Comm& comm, const Operand& operand, const void* own,
                   Part block, std::byte* blocks, std::byte* to) {
  const std::uint64_t offset = block.first * operand.element;
  const auto of = [&](int member, std::byte* there) -> const std::byte* {
    if (member == comm.rank) return at(own, offset);
    direct.fetch(member, DirectCall::kIn, offset, there, block.count * operand.element);
    return there;
  };
  const std::byte* sum = of(0, blocks);
  for (int r = 1; r < comm.size; ++r) {
    std::byte* const next = r == comm.size - 1 ? to : blocks;
    operand.combine(sum, of(r, blocks + kDirectReductionBlockBytes), next, block.count);
    sum = next;
  }
}

// Calls `work` with one block of a part after the other.
template <class Work>
void for_each_block(const Operand& operand, Part part, Work&& work) {
  const std::uint64_t most = kDirectReductionBlockBytes / operand.element;
  for (std::uint64_t done = 0; done < part.count; done += most) {
    work(Part{part.first + done, std::min(most, part.count - done)});
  }
}

// Whether vectors are divided; an element is not.
bool divides(const Operand& operand, int ranks) {
  return reduces_in_parts(operand.bytes(), ranks) && operand.element <= kDirectReductionBlockBytes;
}

class DirectScan {
 public:
  DirectScan(Process& process, Comm& comm, const void* own, void* result, const Operand& operand,
             bool exclusive, DirectCall& direct)
      : rank_(comm.rank),
        size_(comm.size),
        own_(own),
        result_(result),
        operand_(operand),
        exclusive_(exclusive),
        direct_(direct),
        blocks_(process, 3 * kDirectReductionBlockBytes) {}

  void run() {
    for_each_block(operand_, own_part(), [&](Part block) { scan(block); });
    // The first member's result is its own vector, and none of an exclusive scan.
    if (rank_ == 0 && !exclusive_ && result_ != own_) {
      std::memcpy(result_, own_, operand_.bytes());
    }
    // All results are there.
    direct_.meet();
  }

 private:
  // The first member has its own vector to copy, too: with a smaller part it ends with the others.
  // Two members and 1 MiB: 208 to 258 us with equal parts, 136 to 145 with these.
  Part own_part() const {
    if (exclusive_) return part_of(operand_, rank_, size_);
    const std::uint64_t first = operand_.count / (static_cast<std::uint64_t>(size_) + 2);
    if (rank_ == 0) return {0, first};
    Operand rest = operand_;
    rest.count -= first;
    const Part part = part_of(rest, rank_ - 1, size_ - 1);
    return {first + part.first, part.count};
  }
  void scan(Part block) {
    std::byte* const arrived = blocks_.data();
    std::byte* next = arrived + kDirectReductionBlockBytes;
    std::byte* spare = next + kDirectReductionBlockBytes;
    const std::uint64_t offset = block.first * operand_.element;
    const std::uint64_t bytes = block.count * operand_.element;
    const auto of = [&](int member, std::byte* to) -> const std::byte* {
      if (member == rank_) return at(own_, offset);
      direct_.fetch(member, DirectCall::kIn, offset, to, bytes);
      return to;
    };
    const std::byte* sum = of(0, spare);
    for (int r = 1; r < size_; ++r) {
      // A member's vector may lie where its result does: it is read first.
      const std::byte* before = sum;
      const bool stays = !exclusive_ && r == rank_;
      if (!exclusive_ || r + 1 < size_) {
        std::byte* const to = stays ? at(result_, offset) : next;
        operand_.combine(before, of(r, arrived), to, block.count);
        sum = to;
        if (!stays) std::swap(next, spare);
      }
      if (!stays) hand_out(exclusive_ ? before : sum, r, offset, bytes);
    }
  }
  void hand_out(const std::byte* from, int member, std::uint64_t offset, std::uint64_t bytes) {
    if (member == rank_) {
      std::memcpy(at(result_, offset), from, bytes);
    } else {
      direct_.store(from, member, DirectCall::kOut, offset, bytes);
    }
  }

  const int rank_;
  const int size_;
  const void* const own_;
  void* const result_;
  const Operand& operand_;
  const bool exclusive_;
  DirectCall& direct_;
  Scratch blocks_;  // one for what arrives, two for sums
};

}  // namespace

bool scan_directly(Process& process, Comm& comm, const char* call, const void* own, void* result,
                   const Operand& operand, bool exclusive) {
  const std::uint64_t bytes = operand.bytes();
  const CollectiveKind kind = exclusive ? CollectiveKind::exscan : CollectiveKind::scan;
  if (!divides(operand, comm.size)) return false;
  if (!DirectCall::possible(process, comm, kind, call)) return false;
  DirectCall direct(process, comm, kind, call, bytes);
  // Only read through; the port takes a plain pointer because segments may also be written.
  direct.expose(DirectCall::kIn, const_cast<void*>(own), lci::kRead);
  if (comm.rank != 0) direct.expose(DirectCall::kOut, result, lci::kWrite);
  direct.meet();
  DirectScan(process, comm, own, result, operand, exclusive, direct).run();
  return true;
}

bool reduce_scatter_directly(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                             const void* own, void* result, const Operand& operand, Part part) {
  if (!divides(operand, comm.size)) return false;
  if (!DirectCall::possible(process, comm, kind, call)) return false;
  DirectCall direct(process, comm, kind, call, operand.bytes());
  direct.expose(DirectCall::kIn, const_cast<void*>(own), lci::kRead);
  direct.meet();
  // In place others read from where the result goes.
  const bool in_place = own == result;
  const std::uint64_t mine = part.count * operand.element;
  Scratch blocks(process, 2 * kDirectReductionBlockBytes);
  Scratch apart(process, in_place ? mine : 0);
  std::byte* const to = in_place ? apart.data() : static_cast<std::byte*>(result);
  for_each_block(operand, part, [&](Part block) {
    const std::uint64_t offset = (block.first - part.first) * operand.element;
    combine_block(direct, comm, operand, own, block, blocks.data(), to + offset);
  });
  // All have read all vectors.
  direct.meet();
  if (in_place) std::memcpy(result, to, mine);
  return true;
}

void reduce_directly(const LargeReduction& of, DirectCall& direct) {
  const Comm& comm = of.comm;
  Scratch blocks(of.process, 2 * kDirectReductionBlockBytes);
  for_each_block(of.operand, part_of(of.operand, comm.rank, comm.size), [&](Part block) {
    const std::uint64_t offset = of.offset_of(block);
    std::byte* const sum = of.has_result(comm.rank) ? at(of.result, offset) : blocks.data();
    combine_block(direct, comm, of.operand, of.own, block, blocks.data(), sum);
    for (int i = 1; i < comm.size; ++i) {
      const int member = (comm.rank + i) % comm.size;
      if (!of.has_result(member)) continue;
      direct.store(sum, member, DirectCall::kOut, offset, of.bytes_of(block));
    }
  });
  // All results are there.
  direct.meet();
}

}  // namespace fairlead::mpi
