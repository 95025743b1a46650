#include "fairlead/systems/mpi/collectives/algorithms.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/by_messages.h"
#include "fairlead/systems/mpi/collectives/by_network.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/node_board.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/collectives/tree.h"

namespace fairlead::mpi {

namespace {

// Up a tree: member 0 has then heard of all.
template <class Group>
void report(Group& group) {
  const Tree tree(group.rank(), group.size(), 0);
  for (int step = 1; step < tree.limit(); step *= 2) {
    if (tree.relative + step < tree.size)
      group.receive(tree.rank_of(tree.relative + step), nullptr, 0);
  }
  if (!tree.is_root()) group.send(tree.parent(), nullptr, 0);
}

// 2 (P - 1) messages where dissemination takes P log2 P, and twice its time. For large jobs at
// their end, where nobody waits for the answer.
void tree_barrier(GroupCall& group) {
  report(group);
  bcast_binomial(group, nullptr, 0, 0);
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

template <class Group>
void between_nodes(Group& group, const CommNodes& nodes) {
  if (!nodes.leads()) return;
  Subgroup<Group> leaders = among_leaders(group, nodes);
  disseminate(leaders);
}

// The members of a node report to the first one, which meets those of the other nodes.
template <class Group>
void barrier_in_levels(Group& group, const CommNodes& nodes) {
  Subgroup<Group> here = in_node(group, nodes);
  report(here);
  between_nodes(group, nodes);
  bcast_binomial(here, nullptr, 0, 0);
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
  const CommNodes* const nodes = group.nodes();
  switch (barrier_by_messages(kind == CollectiveKind::finalize, group.size(), spread_of(nodes))) {
    case Algorithm::levels:
      if (kind == CollectiveKind::finalize ||
          meet_in_node(process, comm, group, call, nullptr, 0) == nullptr) {
        return barrier_in_levels(group, *nodes);
      }
      between_nodes(group, *nodes);
      meet_in_node(process, comm, group, call, nullptr, 0);
      return;
    case Algorithm::binomial:
      return tree_barrier(group);
    default:
      return disseminate(group);
  }
}

void record_barrier(Recorder& group) {
  const CommNodes* const nodes = group.nodes();
  if (nodes == nullptr) return disseminate(group);
  barrier_in_levels(group, *nodes);
}

}  // namespace fairlead::mpi
