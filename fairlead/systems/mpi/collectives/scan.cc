#include <cstring>

#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {

// Recursive doubling: after step k `reach` holds the operands of the 2^k ranks around this one,
// those of one value of the higher bits, and `result` those of them that are not above it. Both are
// combined in rank order, so that operations need not commute.
void scan(Process& process, Comm& comm, const char* call, const void* own, void* result,
          const Operand& operand, bool exclusive) {
  GroupCall group(process, comm, exclusive ? CollectiveKind::exscan : CollectiveKind::scan, call);
  const std::uint64_t bytes = operand.bytes();
  if (bytes == 0) return;
  Scratch reach(group.process(), bytes);
  Scratch arrived(group.process(), bytes);
  std::memcpy(reach.data(), own, bytes);
  if (!exclusive && own != result) std::memcpy(result, own, bytes);
  bool has_result = !exclusive;
  for (int step = 1; step < group.size(); step *= 2) {
    const int other = group.rank() ^ step;
    if (other >= group.size()) continue;
    group.exchange(other, reach.data(), bytes, other, arrived.data(), bytes);
    if (other > group.rank()) {
      group.combine(operand, reach.data(), arrived.data(), reach.data(), operand.count);
      continue;
    }
    group.combine(operand, arrived.data(), reach.data(), reach.data(), operand.count);
    if (has_result) {
      group.combine(operand, arrived.data(), result, result, operand.count);
    } else {
      std::memcpy(result, arrived.data(), bytes);
      has_result = true;
    }
  }
}

}  // namespace fairlead::mpi
