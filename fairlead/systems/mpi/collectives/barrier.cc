#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {

// Dissemination: after step k every rank has heard, through others, of 2^k ranks before it.
void barrier(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  GroupCall group(process, comm, kind, call);
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int to = (group.rank() + distance) % group.size();
    const int from = (group.rank() - distance + group.size()) % group.size();
    group.exchange(to, nullptr, 0, from, nullptr, 0);
  }
}

}  // namespace fairlead::mpi
