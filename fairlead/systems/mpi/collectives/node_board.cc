#include "fairlead/systems/mpi/collectives/node_board.h"

#include <memory>

#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/nodes.h"

namespace fairlead::mpi {
namespace {

// The members on this rank's node, as a communicator without anything agreed on.
std::shared_ptr<Comm> part_here(Comm& comm, const CommNodes& nodes) {
  auto here = std::make_shared<Comm>();
  here->whole = &comm;
  here->context = comm.context;
  here->name = comm.name;
  here->rank = nodes.own_place();
  for (const Rank member : nodes.members_of(nodes.own())) {
    here->members.push_back(comm.job_rank(static_cast<int>(member)));
  }
  here->size = static_cast<int>(here->members.size());
  here->index_members();
  return here;
}

void settle_here(Process& process, Comm& comm, GroupCall& group) {
  comm.here_settled = true;
  const CommNodes* const nodes = nodes_of(process, comm);
  if (nodes == nullptr || comm.board != nullptr) return;
  std::shared_ptr<Comm> here = part_here(comm, *nodes);
  if (here->size == 1 || here->size > kBoardRanks) return;
  Subgroup<GroupCall> members = in_node(group, *nodes);
  agree_on_board(process, *here, members);
  if (here->board != nullptr) comm.here = std::move(here);
}

}  // namespace

const BoardSlot* meet_in_node(Process& process, Comm& comm, GroupCall& group, const char* call,
                              const void* data, std::size_t size) {
  if (!comm.here_settled) settle_here(process, comm, group);
  if (comm.here == nullptr) return nullptr;
  Comm& here = *comm.here;
  const std::uint64_t number = comm.collectives << kNodeMeetingBits;
  if (here.collectives < number) here.collectives = number - 1;
  return meet_on_board(process, here, static_cast<CollectiveKind>(comm.collective), call, data,
                       size);
}

}  // namespace fairlead::mpi
