#include "fairlead/systems/mpi/collectives/direct_reduction.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

class DirectReduction {
 public:
  DirectReduction(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                  const Operand& operand, const void* own, void* result, int root)
      : process_(process),
        comm_(comm),
        kind_(kind),
        call_(call),
        operand_(operand),
        root_(root),
        own_(own),
        result_(result),
        blocks_(process, 2 * kDirectReductionBlockBytes) {
    // Only read through; the port takes a plain pointer because segments may also be written.
    expose(kIn, const_cast<void*>(own), lci::kRead);
    if (has_result(comm.rank)) expose(kOut, result, lci::kWrite);
  }
  ~DirectReduction() {
    withdraw(kIn);
    if (has_result(comm_.rank)) withdraw(kOut);
  }
  DirectReduction(const DirectReduction&) = delete;
  DirectReduction& operator=(const DirectReduction&) = delete;

  void run() {
    // All have entered their vectors.
    meet();
    const Part part = part_of(operand_, comm_.rank, comm_.size);
    const std::uint64_t most = kDirectReductionBlockBytes / operand_.element;
    for (std::uint64_t done = 0; done < part.count; done += most) {
      const Part block{part.first + done, std::min(most, part.count - done)};
      hand_out(block, combine(block));
    }
    // All results are there.
    meet();
  }

 private:
  enum Which : std::uint32_t { kIn, kOut };

  bool has_result(int member) const { return root_ == kAllRoots || root_ == member; }
  std::uint32_t segment(Which which) const { return kVectorSegment | comm_.context << 1 | which; }
  std::uint64_t offset_of(Part part) const { return part.first * operand_.element; }
  std::uint64_t bytes_of(Part part) const { return part.count * operand_.element; }

  void expose(Which which, void* vector, std::uint32_t permission) {
    const Post answer = process_.engine().port().expose(
        segment(which), vector, operand_.bytes(), permission, nullptr, std::span(comm_.members));
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment(which));
  }
  void withdraw(Which which) {
    const Post answer = process_.engine().port().withdraw(segment(which));
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment(which));
  }
  void meet() {
    const std::uint64_t bytes = operand_.bytes();
    const BoardSlot* const slots =
        meet_on_board(process_, comm_, kind_, call_, &bytes, sizeof bytes);
    for (int r = 0; r < comm_.size; ++r) {
      std::uint64_t theirs;
      std::memcpy(&theirs, slots[r].data, sizeof theirs);
      if (theirs != bytes) disagree_on_size(process_, comm_, call_, r, theirs, bytes);
    }
  }
  // Of all vectors, in rank order; into the own result where there is one. Answers where it is.
  const std::byte* combine(Part block) {
    std::byte* const sums = blocks_.data();
    std::byte* const arrived = sums + kDirectReductionBlockBytes;
    const auto of = [&](int member, std::byte* to) -> const std::byte* {
      if (member == comm_.rank) return at(own_, offset_of(block));
      process_.engine().fetch({comm_.job_rank(member), segment(kIn), offset_of(block)}, to,
                              bytes_of(block), call_);
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
      process_.engine().store(sum, {comm_.job_rank(member), segment(kOut), offset_of(block)},
                              bytes_of(block), call_);
    }
  }

  Process& process_;
  Comm& comm_;
  const CollectiveKind kind_;
  const char* call_;
  const Operand& operand_;
  const int root_;
  const void* own_;
  void* result_;
  Scratch blocks_;  // one for sums, one for what arrives
};

}  // namespace

bool reduce_directly(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                     const void* own, void* result, const Operand& operand, int root) {
  const std::uint64_t part = operand.bytes() / static_cast<std::uint64_t>(comm.size);
  if (comm.size < 2 || part < kDirectReductionPartBytes) return false;
  if (comm.board == nullptr) settle_board(process, comm, kind, call);
  if (comm.board == nullptr || !comm.board_copies) return false;
  DirectReduction(process, comm, kind, call, operand, own, result, root).run();
  return true;
}

}  // namespace fairlead::mpi
