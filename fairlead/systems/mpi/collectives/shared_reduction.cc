#include "fairlead/systems/mpi/collectives/pair_reduction.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

class PairReduction {
 public:
  explicit PairReduction(const LargeReduction& of)
      : of_(of),
        comm_(of.comm),
        memory_(*of.comm.pair),
        other_(1 - comm_.rank),
        most_(PairMemory::kPieceBytes / of.operand.element),
        // The first part is the longer one, if any is.
        pieces_((part(0).count + most_ - 1) / most_) {}

  void run() {
    // What was laid in a slot before is taken before the next is laid there.
    for (std::uint64_t i = 0; i < pieces_ + PairMemory::kSlots; ++i) {
      if (i >= PairMemory::kSlots) take(i - PairMemory::kSlots);
      if (i < pieces_) lay(i);
      if (i >= 1 && i <= pieces_) combine(i - 1);
    }
    comm_.pair_pieces += pieces_;
  }

 private:
  Part part(int member) const { return part_of(of_.operand, member, 2); }
  Part piece(int member, std::uint64_t i) const {
    const Part all = part(member);
    const std::uint64_t before = std::min(all.count, i * most_);
    return {all.first + before, std::min(most_, all.count - before)};
  }
  std::byte* slot(int member, std::uint64_t i) {
    return memory_.slots[member][(comm_.pair_pieces + i) % PairMemory::kSlots];
  }
  // That piece `i` of this call is done.
  void tell(PairMemory::Count& count, std::uint64_t i) {
    count.pieces.store(comm_.pair_pieces + i + 1, std::memory_order_release);
  }
  void wait_for(const PairMemory::Count& count, std::uint64_t i) {
    const std::uint64_t wanted = comm_.pair_pieces + i + 1;
    while (count.pieces.load(std::memory_order_acquire) < wanted) {
      of_.process.engine().wait_for_word(count.pieces, wanted, of_.call);
    }
  }

  void lay(std::uint64_t i) {
    const Part what = piece(other_, i);
    std::memcpy(slot(comm_.rank, i), at(of_.own, of_.offset_of(what)), of_.bytes_of(what));
    tell(memory_.members[comm_.rank].laid, i);
  }
  void combine(std::uint64_t i) {
    wait_for(memory_.members[other_].laid, i);
    const Part what = piece(comm_.rank, i);
    const void* const own = at(of_.own, of_.offset_of(what));
    std::byte* const theirs = slot(other_, i);
    const bool keeps = of_.has_result(comm_.rank);
    const bool gives = of_.has_result(other_);
    std::byte* const result = keeps ? at(of_.result, of_.offset_of(what)) : nullptr;
    std::byte* const sum = gives ? theirs : result;
    const bool lower = comm_.rank == 0;
    of_.operand.combine(lower ? own : theirs, lower ? theirs : own, sum, what.count);
    if (keeps && gives) std::memcpy(result, sum, of_.bytes_of(what));
    tell(memory_.members[comm_.rank].combined, i);
  }
  void take(std::uint64_t i) {
    wait_for(memory_.members[other_].combined, i);
    if (!of_.has_result(comm_.rank)) return;
    const Part what = piece(other_, i);
    std::memcpy(at(of_.result, of_.offset_of(what)), slot(comm_.rank, i), of_.bytes_of(what));
  }

  const LargeReduction& of_;
  Comm& comm_;
  PairMemory& memory_;
  const int other_;
  const std::uint64_t most_;  // elements of a piece
  const std::uint64_t pieces_;
};

}  // namespace

bool make_pair_memory(Process& process, Comm& comm) {
  if (comm.pair != nullptr) return true;
  void* const memory = process.engine().port().allocate(kPairSegment | comm.context,
                                                        sizeof(PairMemory), lci::Place::host);
  comm.pair = static_cast<PairMemory*>(memory);
  return memory != nullptr;
}

void drop_pair_memory(Process& process, Comm& comm) {
  if (comm.pair == nullptr) return;
  comm.pair = nullptr;
  if (comm.rank != 0) return;
  const Post answer = process.engine().port().withdraw(kPairSegment | comm.context);
  FAIRLEAD_CHECK(answer == Post::done, "pair memory of context {}", comm.context);
}

void reduce_in_pair(const LargeReduction& reduction) {
  Comm& comm = reduction.comm;
  if (comm.pair == nullptr) {
    void* const memory =
        reduction.process.engine().port().map(comm.job_rank(0), kPairSegment | comm.context);
    FAIRLEAD_CHECK(memory != nullptr, "pair memory of context {}", comm.context);
    comm.pair = static_cast<PairMemory*>(memory);
  }
  PairReduction(reduction).run();
}

}  // namespace fairlead::mpi
