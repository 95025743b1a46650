#include <algorithm>
#include <bit>
#include <cstring>

#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/collectives/group_call.h"

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

// Ring: piece i travels once around and is combined at each rank, then once more with the result.
void allreduce_ring(GroupCall& group, const Operand& operand, std::byte* sum) {
  const int size = group.size();
  const int to = (group.rank() + 1) % size;
  const int from = (group.rank() - 1 + size) % size;
  const auto pieces = static_cast<std::uint64_t>(size);
  const std::uint64_t each = (operand.count + pieces - 1) / pieces;
  const auto begin_of = [&](int piece) {
    return std::min(operand.count, static_cast<std::uint64_t>(piece) * each);
  };
  const auto count_of = [&](int piece) { return begin_of(piece + 1) - begin_of(piece); };
  const auto data_of = [&](int piece) { return at(sum, begin_of(piece) * operand.element); };
  Scratch arrived(each * operand.element);
  for (int i = 0; i < size - 1; ++i) {
    const int out = (group.rank() - i + size) % size;
    const int in = (group.rank() - i - 1 + size) % size;
    group.exchange(to, data_of(out), count_of(out) * operand.element, from, arrived.data(),
                   count_of(in) * operand.element);
    group.combine(operand, arrived.data(), data_of(in), data_of(in), count_of(in));
  }
  for (int i = 0; i < size - 1; ++i) {
    const int out = (group.rank() + 1 - i + size) % size;
    const int in = (group.rank() - i + size) % size;
    group.exchange(to, data_of(out), count_of(out) * operand.element, from, data_of(in),
                   count_of(in) * operand.element);
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

}  // namespace

void allreduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
               const Operand& operand) {
  const std::uint64_t bytes = operand.bytes();
  if (bytes <= kBoardBytes && comm.size > 1) {
    if (comm.board == nullptr) settle_board(process, comm, CollectiveKind::allreduce, call);
    if (comm.board != nullptr) {
      allreduce_board(process, comm, call, operand, own, result);
      return;
    }
  }
  GroupCall group(process, comm, CollectiveKind::allreduce, call);
  if (own != result && bytes != 0) std::memcpy(result, own, bytes);
  if (group.size() == 1) return;
  std::byte* const sum = static_cast<std::byte*>(result);
  const std::uint64_t piece = bytes / static_cast<std::uint64_t>(group.size());
  if (bytes >= kAllreduceRingBytes && piece >= kAllreduceRingPieceBytes) {
    allreduce_ring(group, operand, sum);
  } else {
    allreduce_doubling(group, operand, sum);
  }
}

}  // namespace fairlead::mpi
