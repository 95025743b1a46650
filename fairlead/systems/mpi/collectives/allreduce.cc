#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

// Combines what two ranks hold, the lower rank's operand first on both, so that both get the same
// bits.
void meet(GroupCall& group, const Operand& operand, int other, std::byte* sum, std::byte* arrived) {
  group.exchange(other, sum, operand.bytes(), other, arrived, operand.bytes());
  const bool lower = group.rank() < other;
  group.combine(operand, lower ? sum : arrived, lower ? arrived : sum, sum, operand.count);
}

// Recursive doubling. With P not a power of two the first 2 (P - 2^k) ranks begin as pairs, whose
// odd member stands for both.
void allreduce_doubling(GroupCall& group, const Operand& operand, std::byte* sum) {
  const int size = group.size();
  const int rank = group.rank();
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int paired = 2 * (size - core);
  Scratch arrived(operand.bytes());
  if (rank < paired && rank % 2 == 0) {
    group.send(rank + 1, sum, operand.bytes());
    group.receive(rank + 1, sum, operand.bytes());
    return;
  }
  if (rank < paired) {
    group.receive(rank - 1, arrived.data(), operand.bytes());
    group.combine(operand, arrived.data(), sum, sum, operand.count);
  }
  const int place = rank < paired ? rank / 2 : rank - paired / 2;
  for (int step = 1; step < core; step *= 2) {
    const int other = place ^ step;
    meet(group, operand, other < paired / 2 ? 2 * other + 1 : other + paired / 2, sum,
         arrived.data());
  }
  if (rank < paired) group.send(rank - 1, sum, operand.bytes());
}

// Consecutive elements of a vector.
struct Part {
  std::uint64_t first;
  std::uint64_t count;
};

// Takes part `in` of a vector from one member, combines it with `own` into `sum`, and sends part
// `out` of `sent` to another, both in blocks that are combined before they leave the cache.
void combine_blocks(GroupCall& group, const Operand& operand, int to, const void* sent, Part out,
                    int from, const void* own, void* sum, Part in) {
  const std::uint64_t block = std::max<std::uint64_t>(1, kAllreduceBlockBytes / operand.element);
  Scratch scratch(2 * std::min(block, in.count) * operand.element);
  const auto bytes_of = [&](Part part, std::uint64_t index) {
    const std::uint64_t left = part.count - std::min(part.count, index * block);
    return std::min(block, left) * operand.element;
  };
  const auto offset_of = [&](Part part, std::uint64_t index) {
    return (part.first + index * block) * operand.element;
  };
  const auto arrived = [&](std::uint64_t index) {
    return at(scratch.data(), index % 2 * std::min(block, in.count) * operand.element);
  };
  const std::uint64_t blocks = (std::max(in.count, out.count) + block - 1) / block;
  const auto receive = [&](std::uint64_t i) -> Request* {
    return bytes_of(in, i) == 0 ? nullptr : group.begin_receive(from, arrived(i), bytes_of(in, i));
  };
  Request* next = receive(0);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    Request* const receiving = next;
    Request* const sending =
        bytes_of(out, i) == 0 ? nullptr
                              : group.begin_send(to, at(sent, offset_of(out, i)), bytes_of(out, i));
    next = i + 1 < blocks ? receive(i + 1) : nullptr;
    if (receiving != nullptr) {
      group.end(receiving, bytes_of(in, i));
      group.combine(operand, arrived(i), at(own, offset_of(in, i)), at(sum, offset_of(in, i)),
                    bytes_of(in, i) / operand.element);
    }
    if (sending != nullptr) group.end_send(sending);
  }
}

// The i-th of `pieces` parts of about the same length.
Part part_of(const Operand& operand, int i, int pieces) {
  const std::uint64_t each =
      (operand.count + static_cast<std::uint64_t>(pieces) - 1) / static_cast<std::uint64_t>(pieces);
  const auto begin_of = [&](int piece) {
    return std::min(operand.count, static_cast<std::uint64_t>(piece) * each);
  };
  return {begin_of(i), begin_of(i + 1) - begin_of(i)};
}

// Ring: piece i travels once around and is combined at each rank, then once more with the result.
void allreduce_ring(GroupCall& group, const Operand& operand, const void* own, void* sum) {
  const int size = group.size();
  const int to = (group.rank() + 1) % size;
  const int from = (group.rank() - 1 + size) % size;
  const auto part = [&](int piece) { return part_of(operand, piece, size); };
  for (int i = 0; i < size - 1; ++i) {
    combine_blocks(group, operand, to, i == 0 ? own : sum, part((group.rank() - i + size) % size),
                   from, own, sum, part((group.rank() - i - 1 + size) % size));
  }
  for (int i = 0; i < size - 1; ++i) {
    const Part out = part((group.rank() + 1 - i + size) % size);
    const Part in = part((group.rank() - i + size) % size);
    group.exchange(to, at(sum, out.first * operand.element), out.count * operand.element, from,
                   at(sum, in.first * operand.element), in.count * operand.element);
  }
}

// Every member combines what all entered, in rank order.
void allreduce_board(Process& process, Comm& comm, const char* call, const Operand& operand,
                     const void* own, void* result) {
  const std::uint64_t bytes = operand.bytes();
  const BoardSlot* slots =
      meet_on_board(process, comm, CollectiveKind::allreduce, call, own, bytes);
  alignas(16) std::byte sum[kBoardBytes];
  alignas(16) std::byte next[kBoardBytes];
  std::memcpy(sum, slots[0].data, bytes);
  for (int r = 1; r < comm.size; ++r) {
    std::memcpy(next, slots[r].data, bytes);
    operand.combine(sum, next, sum, operand.count);
  }
  if (bytes != 0) std::memcpy(result, sum, bytes);
}

// Each member combines its part of all vectors, which it reads from their owners' memory, and
// writes the result there. Nobody but that member touches this part of a vector or of a result, so
// that they may be the same memory, and none has to wait for another in between.
class DirectAllreduce {
 public:
  DirectAllreduce(Process& process, Comm& comm, const char* call, const Operand& operand,
                  const void* own, void* result)
      : process_(process),
        comm_(comm),
        call_(call),
        operand_(operand),
        own_(own),
        result_(result),
        blocks_(std::move(process.blocks)) {
    // Only read through; the port takes a plain pointer because segments may also be written.
    expose(kIn, const_cast<void*>(own), lci::kRead);
    expose(kOut, result, lci::kWrite);
  }
  ~DirectAllreduce() {
    process_.blocks = std::move(blocks_);
    for (const Which which : {kIn, kOut}) {
      const Post answer = process_.engine().port().withdraw(segment(which));
      FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment(which));
    }
  }
  DirectAllreduce(const DirectAllreduce&) = delete;
  DirectAllreduce& operator=(const DirectAllreduce&) = delete;

  void run() {
    meet();
    const Part part = part_of(operand_, comm_.rank, comm_.size);
    const std::uint64_t most = kAllreduceDirectBlockBytes / operand_.element;
    if (blocks_ == nullptr) {
      blocks_ = std::make_unique_for_overwrite<std::byte[]>(2 * kAllreduceDirectBlockBytes);
    }
    std::byte* const sums = blocks_.get();
    std::byte* const arrived = sums + kAllreduceDirectBlockBytes;
    for (std::uint64_t done = 0; done < part.count; done += most) {
      const Part block{part.first + done, std::min(most, part.count - done)};
      combine(block, sums, arrived);
      hand_out(block);
    }
    meet();
  }

 private:
  enum Which : std::uint32_t { kIn, kOut };

  std::uint32_t segment(Which which) const { return kVectorSegment | comm_.context << 1 | which; }
  std::uint64_t offset_of(Part part) const { return part.first * operand_.element; }
  std::uint64_t bytes_of(Part part) const { return part.count * operand_.element; }

  void expose(Which which, void* vector, std::uint32_t permission) {
    const Post answer = process_.engine().port().expose(segment(which), vector, operand_.bytes(),
                                                        permission, nullptr, {});
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment(which));
  }
  // All have entered their vectors; all results are there.
  void meet() {
    const std::uint64_t bytes = operand_.bytes();
    const BoardSlot* const slots =
        meet_on_board(process_, comm_, CollectiveKind::allreduce, call_, &bytes, sizeof bytes);
    for (int r = 0; r < comm_.size; ++r) {
      std::uint64_t theirs;
      std::memcpy(&theirs, slots[r].data, sizeof theirs);
      if (theirs != bytes) disagree_on_size(process_, comm_, call_, r, theirs, bytes);
    }
  }
  // In rank order, into the own result.
  void combine(Part block, std::byte* sums, std::byte* arrived) {
    const auto of = [&](int member, std::byte* to) -> const std::byte* {
      if (member == comm_.rank) return at(own_, offset_of(block));
      process_.engine().fetch({comm_.job_rank(member), segment(kIn), offset_of(block)}, to,
                              bytes_of(block), call_);
      return to;
    };
    const std::byte* sum = of(0, sums);
    for (int r = 1; r < comm_.size; ++r) {
      std::byte* const to = r == comm_.size - 1 ? at(result_, offset_of(block)) : sums;
      operand_.combine(sum, of(r, arrived), to, block.count);
      sum = to;
    }
  }
  void hand_out(Part block) {
    for (int i = 1; i < comm_.size; ++i) {
      const Rank member = comm_.job_rank((comm_.rank + i) % comm_.size);
      process_.engine().store(at(result_, offset_of(block)),
                              {member, segment(kOut), offset_of(block)}, bytes_of(block), call_);
    }
  }

  Process& process_;
  Comm& comm_;
  const char* call_;
  const Operand& operand_;
  const void* own_;
  void* result_;
  std::unique_ptr<std::byte[]> blocks_;  // one for sums, one for what arrives
};

}  // namespace

void allreduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
               const Operand& operand) {
  const std::uint64_t bytes = operand.bytes();
  const bool small = bytes <= kBoardBytes;
  if (comm.size > 1 && (small || bytes >= kAllreduceDirectBytes)) {
    if (comm.board == nullptr) settle_board(process, comm, CollectiveKind::allreduce, call);
    if (comm.board != nullptr && small) {
      return allreduce_board(process, comm, call, operand, own, result);
    }
    if (comm.board != nullptr && comm.board_copies) {
      return DirectAllreduce(process, comm, call, operand, own, result).run();
    }
  }
  GroupCall group(process, comm, CollectiveKind::allreduce, call);
  const std::uint64_t piece = bytes / static_cast<std::uint64_t>(group.size());
  if (group.size() > 1 && bytes >= kAllreduceRingBytes && piece >= kAllreduceRingPieceBytes) {
    return allreduce_ring(group, operand, own, result);
  }
  if (own != result && bytes != 0) std::memcpy(result, own, bytes);
  if (group.size() > 1) allreduce_doubling(group, operand, static_cast<std::byte*>(result));
}

}  // namespace fairlead::mpi
