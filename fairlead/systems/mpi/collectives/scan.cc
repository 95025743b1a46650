#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/direct_reduction.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {
namespace {

// Recursive doubling: after step k `reach` holds the operands of the 2^k ranks around this one,
// those of one value of the higher bits, and `result` those of them that are not above it. Both are
// combined in rank order, so that operations need not commute. Before the first step `reach` is
// what the program gave, and after the last one nobody asks for it.
template <class Group>
void scan_by_messages(Group& group, const void* own, void* result, const Operand& operand,
                      bool exclusive) {
  const std::uint64_t bytes = operand.bytes();
  if (bytes == 0) return;
  typename Group::Memory reached(group, group.size() > 2 ? bytes : 0);
  typename Group::Memory arrived(group, bytes);
  const void* reach = own;
  if (!exclusive) group.copy(result, own, bytes);
  bool has_result = !exclusive;
  for (int step = 1; step < group.size(); step *= 2) {
    const int other = group.rank() ^ step;
    if (other >= group.size()) continue;
    group.exchange(other, reach, bytes, other, arrived.data(), bytes);
    const bool is_above = other > group.rank();
    if (2 * step < group.size()) {
      group.combine(operand, is_above ? reach : arrived.data(), is_above ? arrived.data() : reach,
                    reached.data(), operand.count);
      reach = reached.data();
    }
    if (is_above) continue;
    if (has_result) {
      group.combine(operand, arrived.data(), result, result, operand.count);
    } else {
      group.copy(result, arrived.data(), bytes);
      has_result = true;
    }
  }
}

}  // namespace

void scan(Process& process, Comm& comm, const char* call, const void* own, void* result,
          const Operand& operand, bool exclusive) {
  const CollectiveKind kind = exclusive ? CollectiveKind::exscan : CollectiveKind::scan;
  if (fits_board(comm, operand.bytes())) {
    const BoardSlot* const slots = meet_on_board(process, comm, kind, call, own, operand.bytes());
    combine_entered(slots, comm.rank + (exclusive ? 0 : 1), 0, operand, operand.count, result);
    return;
  }
  if (scan_directly(process, comm, call, own, result, operand, exclusive)) return;
  GroupCall group(process, comm, kind, call);
  scan_by_messages(group, own, result, operand, exclusive);
}

void record_scan(Recorder& group, const void* own, void* result, const Operand& operand,
                 bool exclusive) {
  scan_by_messages(group, own, result, operand, exclusive);
}

}  // namespace fairlead::mpi
