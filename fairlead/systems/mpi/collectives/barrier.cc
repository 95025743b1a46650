#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/by_network.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {

namespace {

// Up and down a tree: 2 (P - 1) messages where dissemination takes P log2 P, and twice its time.
// For large jobs at their end, where nobody waits for the answer.
void tree_barrier(GroupCall& group) {
  const Tree tree(group.rank(), group.size(), 0);
  for (int step = 1; step < tree.limit(); step *= 2) {
    if (tree.relative + step < tree.size)
      group.receive(tree.rank_of(tree.relative + step), nullptr, 0);
  }
  if (!tree.is_root()) {
    group.send(tree.parent(), nullptr, 0);
    group.receive(tree.parent(), nullptr, 0);
  }
  for (int step = tree.limit() / 2; step > 0; step /= 2) {
    if (tree.relative + step < tree.size)
      group.send(tree.rank_of(tree.relative + step), nullptr, 0);
  }
}

// Dissemination: after step k every rank has heard, through others, of 2^k ranks before it.
template <class Group>
void disseminate(Group& group) {
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int to = (group.rank() + distance) % group.size();
    const int from = (group.rank() - distance + group.size()) % group.size();
    group.exchange(to, nullptr, 0, from, nullptr, 0);
  }
}

}  // namespace

void barrier(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.size == 1) return;
  // The last barrier leaves nobody on a board whose owner may be gone.
  if (kind != CollectiveKind::finalize) {
    if (comm.board != nullptr) {
      meet_on_board(process, comm, kind, call, nullptr, 0);
      return;
    }
    if (barrier_by_network(process, comm, kind, call)) return;
    if (settle_board(process, comm, kind, call)) return;
  }
  GroupCall group(process, comm, kind, call);
  if (barrier_by_messages(kind == CollectiveKind::finalize, group.size()) == Algorithm::binomial) {
    return tree_barrier(group);
  }
  disseminate(group);
}

void record_barrier(Recorder& group) { disseminate(group); }

}  // namespace fairlead::mpi
