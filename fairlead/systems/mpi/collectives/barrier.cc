#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {

// Dissemination: after step k every rank has heard, through others, of 2^k ranks before it.
void barrier(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.size == 1) return;
  // The last barrier leaves nobody on a board whose owner may be gone.
  if (kind != CollectiveKind::finalize) {
    if (comm.board != nullptr) {
      meet_on_board(process, comm, kind, call, nullptr, 0);
      return;
    }
    if (settle_board(process, comm, kind, call)) return;
  }
  GroupCall group(process, comm, kind, call);
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int to = (group.rank() + distance) % group.size();
    const int from = (group.rank() - distance + group.size()) % group.size();
    group.exchange(to, nullptr, 0, from, nullptr, 0);
  }
}

}  // namespace fairlead::mpi
