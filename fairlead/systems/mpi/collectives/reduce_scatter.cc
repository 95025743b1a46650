#include <vector>

#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/direct_reduction.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// Where each rank's part begins, in elements; the last is the whole length.
std::vector<std::uint64_t> starts_of(const Counts& counts, int size) {
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(size) + 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    starts[i + 1] = starts[i] + static_cast<std::uint64_t>(counts[i]);
  }
  return starts;
}

template <class Group>
class ReduceScatter {
 public:
  ReduceScatter(Group& group, const Operand& operand, const Counts& counts)
      : group_(group), operand_(operand), starts_(starts_of(counts, group.size())) {}

  // Step i: this rank sends the part of the rank i after it, and combines what the rank i before it
  // has for this one. The order of a rank's operands is always the same, but not that of the ranks.
  void by_pairs(const void* own, void* result) {
    const int size = group_.size();
    const int rank = group_.rank();
    const std::uint64_t mine = bytes(rank);
    typename Group::Memory arrived(group_, mine);
    typename Group::Memory sum(group_, mine);
    group_.copy(sum.data(), at(own, offset(rank)), mine);
    for (int i = 1; i < size; ++i) {
      const int to = (rank + i) % size;
      const int from = (rank - i + size) % size;
      typename Group::Pending const receive =
          mine == 0 ? nullptr : group_.begin_receive(from, arrived.data(), mine);
      if (bytes(to) != 0) group_.send(to, at(own, offset(to)), bytes(to));
      if (receive == nullptr) continue;
      group_.end(receive, mine);
      group_.combine(operand_, arrived.data(), sum.data(), sum.data(), mine / operand_.element);
    }
    // Only now, as `own` may lie there.
    group_.copy(result, sum.data(), mine);
  }

  // To rank 0, which sends each rank its part.
  void by_tree(const void* own, void* result) {
    const int rank = group_.rank();
    typename Group::Memory sum(group_, operand_.bytes());
    group_.copy(sum.data(), own, operand_.bytes());
    reduce_to_first(group_, operand_, sum.data());
    if (rank != 0) {
      if (bytes(rank) != 0) group_.receive(0, result, bytes(rank));
      return;
    }
    for (int i = 1; i < group_.size(); ++i) {
      if (bytes(i) != 0) group_.send(i, at(sum.data(), offset(i)), bytes(i));
    }
    group_.copy(result, sum.data(), bytes(0));
  }

 private:
  std::uint64_t offset(int rank) const {
    return starts_[static_cast<std::size_t>(rank)] * operand_.element;
  }
  std::uint64_t bytes(int rank) const { return offset(rank + 1) - offset(rank); }

  Group& group_;
  const Operand& operand_;
  const std::vector<std::uint64_t> starts_;
};

template <class Group>
void reduce_scatter_by_messages(Group& group, const void* own, void* result, const Operand& operand,
                                const Counts& counts) {
  if (operand.bytes() == 0) return;
  ReduceScatter<Group> parts(group, operand, counts);
  if (choose_reduce_scatter(operand.bytes(), group.size(), operand.commutes()) ==
      Algorithm::pairwise) {
    parts.by_pairs(own, result);
  } else {
    parts.by_tree(own, result);
  }
}

Part own_part(const Comm& comm, const Counts& counts) {
  std::uint64_t before = 0;
  for (int r = 0; r < comm.rank; ++r) before += static_cast<std::uint64_t>(counts[r]);
  return {before, static_cast<std::uint64_t>(counts[comm.rank])};
}

}  // namespace

void reduce_scatter(Process& process, Comm& comm, CollectiveKind kind, const char* call,
                    const void* own, void* result, const Operand& operand, const Counts& counts) {
  if (operand.bytes() != 0 && fits_board(comm, operand.bytes())) {
    const BoardSlot* const slots = meet_on_board(process, comm, kind, call, own, operand.bytes());
    const Part part = own_part(comm, counts);
    combine_entered(slots, comm.size, part.first * operand.element, operand, part.count, result);
    return;
  }
  if (reduce_scatter_directly(process, comm, kind, call, own, result, operand,
                              own_part(comm, counts))) {
    return;
  }
  GroupCall group(process, comm, kind, call);
  reduce_scatter_by_messages(group, own, result, operand, counts);
}

void record_reduce_scatter(Recorder& group, const void* own, void* result, const Operand& operand,
                           const Counts& counts) {
  reduce_scatter_by_messages(group, own, result, operand, counts);
}

}  // namespace fairlead::mpi
