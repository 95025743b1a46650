#include "fairlead/systems/mpi/collectives/shared_reduction.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

class SharedReduction {
 public:
  explicit SharedReduction(const LargeReduction& of)
      : of_(of),
        comm_(of.comm),
        memory_(*of.comm.shared),
        piece_bytes_(SharedPieces::piece_bytes(comm_.size)),
        most_(piece_bytes_ / of.operand.element),
        // No part is longer than the first.
        pieces_((part(0).count + most_ - 1) / most_) {}

  void run() {
    // What was laid in a slot before is taken before the next is laid there.
    for (std::uint64_t i = 0; i < pieces_ + SharedPieces::kSlots; ++i) {
      if (i >= SharedPieces::kSlots) take(i - SharedPieces::kSlots);
      if (i < pieces_) lay(i);
      if (i >= 1 && i <= pieces_) combine(i - 1);
    }
    comm_.shared_count += pieces_;
  }

 private:
  Part part(int member) const { return part_of(of_.operand, member, comm_.size); }
  // The i-th of a member's part.
  Part piece(int member, std::uint64_t i) const {
    const Part all = part(member);
    const std::uint64_t before = std::min(all.count, i * most_);
    return {all.first + before, std::min(most_, all.count - before)};
  }
  // Where `member` lays its piece of `owner`'s part.
  std::byte* slot(int member, int owner, std::uint64_t i) {
    const auto lane = static_cast<std::uint64_t>(owner < member ? owner : owner - 1);
    const std::uint64_t turn = (comm_.shared_count + i) % SharedPieces::kSlots;
    return memory_.memory_of(member) + (lane * SharedPieces::kSlots + turn) * piece_bytes_;
  }
  // The i-th other member, a different one for each.
  int other(int i) const { return (comm_.rank + i) % comm_.size; }
  // That piece `i` of this call is done.
  void tell(SharedPieces::Count& count, std::uint64_t i) {
    count.pieces.store(comm_.shared_count + i + 1, std::memory_order_release);
  }
  void wait_for(const SharedPieces::Count& count, std::uint64_t i) {
    const std::uint64_t wanted = comm_.shared_count + i + 1;
    if (count.pieces.load(std::memory_order_acquire) >= wanted) return;
    Engine& engine = of_.process.engine();
    do {
      engine.wait_for_word(count.pieces, wanted, of_.call, {nullptr, &comm_, nullptr});
    } while (count.pieces.load(std::memory_order_acquire) < wanted);
    engine.wait_is_over();
  }

  void lay(std::uint64_t i) {
    for (int k = 1; k < comm_.size; ++k) {
      const Part what = piece(other(k), i);
      std::memcpy(slot(comm_.rank, other(k), i), at(of_.own, of_.offset_of(what)),
                  of_.bytes_of(what));
    }
    tell(memory_.members[comm_.rank].laid, i);
  }
  void combine(std::uint64_t i) {
    for (int k = 1; k < comm_.size; ++k) wait_for(memory_.members[other(k)].laid, i);
    const Part what = piece(comm_.rank, i);
    const auto operand = [&](int member) -> const std::byte* {
      if (member == comm_.rank) return at(of_.own, of_.offset_of(what));
      return slot(member, comm_.rank, i);
    };
    // In the first slot there is: what lies there is combined first.
    std::byte* const sum = slot(comm_.rank == 0 ? 1 : 0, comm_.rank, i);
    const std::byte* lower = operand(0);
    for (int r = 1; r < comm_.size; ++r) {
      of_.operand.combine(lower, operand(r), sum, what.count);
      lower = sum;
    }
    for (int r = 0; r < comm_.size; ++r) {
      if (!of_.has_result(r)) continue;
      std::byte* const to =
          r == comm_.rank ? at(of_.result, of_.offset_of(what)) : slot(r, comm_.rank, i);
      if (to != sum) std::memcpy(to, sum, of_.bytes_of(what));
    }
    tell(memory_.members[comm_.rank].combined, i);
  }
  void take(std::uint64_t i) {
    for (int k = 1; k < comm_.size; ++k) {
      wait_for(memory_.members[other(k)].combined, i);
      if (!of_.has_result(comm_.rank)) continue;
      const Part what = piece(other(k), i);
      std::memcpy(at(of_.result, of_.offset_of(what)), slot(comm_.rank, other(k), i),
                  of_.bytes_of(what));
    }
  }

  const LargeReduction& of_;
  Comm& comm_;
  SharedPieces& memory_;
  const std::uint64_t piece_bytes_;
  const std::uint64_t most_;  // elements of a piece
  const std::uint64_t pieces_;
};

}  // namespace

bool make_shared_pieces(Process& process, Comm& comm) {
  if (comm.shared != nullptr) return true;
  void* const memory = process.engine().port().allocate(
      kSharedSegment | comm.context, SharedPieces::bytes(comm.size), lci::Place::host);
  comm.shared = static_cast<SharedPieces*>(memory);
  return memory != nullptr;
}

void drop_shared_pieces(Process& process, Comm& comm) {
  if (comm.shared == nullptr) return;
  comm.shared = nullptr;
  if (comm.rank != 0) return;
  const Post answer = process.engine().port().withdraw(kSharedSegment | comm.context);
  FAIRLEAD_CHECK(answer == Post::done, "shared memory of context {}", comm.context);
}

void reduce_through_shared(const LargeReduction& reduction) {
  Comm& comm = reduction.comm;
  if (comm.shared == nullptr) {
    void* const memory =
        reduction.process.engine().port().map(comm.job_rank(0), kSharedSegment | comm.context);
    FAIRLEAD_CHECK(memory != nullptr, "shared memory of context {}", comm.context);
    comm.shared = static_cast<SharedPieces*>(memory);
  }
  SharedReduction(reduction).run();
}

}  // namespace fairlead::mpi
