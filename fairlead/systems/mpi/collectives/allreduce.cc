#include <algorithm>
#include <bit>
#include <cstring>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/by_network.h"
#include "fairlead/systems/mpi/collectives/node_board.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/reduce_without_messages.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// Combines what two ranks hold, the lower rank's operand first on both, so that both get the same
// bits.
template <class Group>
void meet(Group& group, const Operand& operand, int other, std::byte* sum, std::byte* arrived) {
  group.exchange(other, sum, operand.bytes(), other, arrived, operand.bytes());
  const bool lower = group.rank() < other;
  group.combine(operand, lower ? sum : arrived, lower ? arrived : sum, sum, operand.count);
}

// Recursive doubling. With P not a power of two the first 2 (P - 2^k) ranks begin as pairs, whose
// odd member stands for both.
template <class Group>
void allreduce_doubling(Group& group, const Operand& operand, std::byte* sum) {
  const int size = group.size();
  const int rank = group.rank();
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int paired = 2 * (size - core);
  typename Group::Memory arrived(group, operand.bytes());
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

// Takes part `in` of a vector from one member, combines it with `own` into `sum`, and sends part
// `out` of `sent` to another, both in blocks that are combined before they leave the cache.
template <class Group>
void combine_blocks(Group& group, const Operand& operand, int to, const void* sent, Part out,
                    int from, const void* own, void* sum, Part in) {
  const std::uint64_t block = std::max<std::uint64_t>(1, kAllreduceBlockBytes / operand.element);
  typename Group::Memory scratch(group, 2 * std::min(block, in.count) * operand.element);
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
  const auto receive = [&](std::uint64_t i) -> typename Group::Pending {
    return bytes_of(in, i) == 0 ? nullptr : group.begin_receive(from, arrived(i), bytes_of(in, i));
  };
  typename Group::Pending next = receive(0);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    typename Group::Pending const receiving = next;
    typename Group::Pending const sending =
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

// Ring: piece i travels once around and is combined at each rank, then once more with the result.
template <class Group>
void allreduce_ring(Group& group, const Operand& operand, const void* own, void* sum) {
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
  const BoardSlot* slots =
      meet_on_board(process, comm, CollectiveKind::allreduce, call, own, operand.bytes());
  combine_entered(slots, comm.size, 0, operand, operand.count, result);
}

// A node's members enter their operands, the first one combines them with those of other nodes, and
// they take the result from what it enters. False: nothing was done.
bool allreduce_on_node_board(Process& process, Comm& comm, GroupCall& group, const char* call,
                             const Operand& operand, const void* own, void* result) {
  const std::uint64_t bytes = operand.bytes();
  const BoardSlot* slots = meet_in_node(process, comm, group, call, own, bytes);
  if (slots == nullptr) return false;
  const CommNodes& nodes = *comm.nodes;
  alignas(16) std::byte sum[kBoardBytes];
  if (nodes.leads()) {
    combine_entered(slots, comm.here->size, 0, operand, operand.count, sum);
    Subgroup<GroupCall> leaders = among_leaders(group, nodes);
    allreduce_doubling(leaders, operand, sum);
  }
  slots = meet_in_node(process, comm, group, call, nodes.leads() ? sum : own, bytes);
  if (bytes != 0) std::memcpy(result, slots[0].data, bytes);
  return true;
}

// To one member, which broadcasts the result: what the LCI paper's MPI does.
template <class Group>
void allreduce_by_bcast(Group& group, const Operand& operand, std::byte* sum) {
  reduce_tree(group, operand, sum);
  if (group.size() > 1) bcast_as_told(group, sum, operand.bytes(), 0);
}

// To the first member of each node; from these to each other; from each to its node.
template <class Group>
void allreduce_in_levels(Group& group, const CommNodes& nodes, const Operand& operand,
                         std::byte* sum) {
  Subgroup<Group> here = in_node(group, nodes);
  reduce_tree(here, operand, sum);
  if (nodes.leads()) {
    Subgroup<Group> leaders = among_leaders(group, nodes);
    allreduce_doubling(leaders, operand, sum);
  }
  bcast_binomial(here, sum, operand.bytes(), 0);
}

template <class Group>
Algorithm algorithm_of(Group& group, const Operand& operand) {
  return choose_allreduce(operand.bytes(), group.size(), group.process().bcast_way,
                          operand.commutes(), spread_of(group.nodes()));
}

template <class Group>
void allreduce_by_messages(Group& group, const void* own, void* result, const Operand& operand) {
  const std::uint64_t bytes = operand.bytes();
  auto* const sum = static_cast<std::byte*>(result);
  const CommNodes* const nodes = group.nodes();
  const Algorithm algorithm = algorithm_of(group, operand);
  if (algorithm == Algorithm::ring && group.size() > 1) {
    return allreduce_ring(group, operand, own, result);
  }
  if (algorithm == Algorithm::node_ring) {
    Subgroup<Group> members = by_node(group, *nodes);
    return allreduce_ring(members, operand, own, result);
  }
  group.copy(result, own, bytes);
  if (algorithm == Algorithm::reduce_bcast) return allreduce_by_bcast(group, operand, sum);
  if (algorithm == Algorithm::levels) return allreduce_in_levels(group, *nodes, operand, sum);
  if (group.size() > 1) allreduce_doubling(group, operand, sum);
}

}  // namespace

void allreduce(Process& process, Comm& comm, const char* call, const void* own, void* result,
               const Operand& operand) {
  const std::uint64_t bytes = operand.bytes();
  const bool as_told = process.bcast_way != BcastWay::automatic;
  if (allreduce_by_network(process, comm, call, own, result, operand)) return;
  if (!as_told && enters_board(bytes) && comm.size > 1) {
    if (comm.board == nullptr) settle_board(process, comm, CollectiveKind::allreduce, call);
    if (comm.board != nullptr) {
      return allreduce_board(process, comm, call, operand, own, result);
    }
  }
  if (!as_told && reduce_without_messages({process, comm, CollectiveKind::allreduce, call, own,
                                           result, operand, kAllRoots})) {
    return;
  }
  GroupCall group(process, comm, CollectiveKind::allreduce, call);
  if (enters_board(bytes) && algorithm_of(group, operand) == Algorithm::levels &&
      allreduce_on_node_board(process, comm, group, call, operand, own, result)) {
    return;
  }
  allreduce_by_messages(group, own, result, operand);
}

void record_allreduce(Recorder& group, const void* own, void* result, const Operand& operand) {
  allreduce_by_messages(group, own, result, operand);
}

}  // namespace fairlead::mpi
