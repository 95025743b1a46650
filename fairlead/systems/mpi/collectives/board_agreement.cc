#include "fairlead/systems/mpi/collectives/board_agreement.h"

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/collectives/shared_reduction.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

constexpr std::uint8_t kHasBoard = 1;
constexpr std::uint8_t kCopies = 2;

// The flags that the paths to all members have.
std::uint64_t common_flags(Process& process, const Comm& comm) {
  std::uint64_t flags = ~std::uint64_t{0};
  for (int r = 0; r < comm.size; ++r) {
    if (r != comm.rank) flags &= process.engine().flags(comm.job_rank(r));
  }
  return flags;
}

// Dissemination with votes: every member ends with the AND of all.
template <class Group>
std::uint8_t vote_all(Group& group, std::uint8_t mine) {
  std::uint8_t all = mine;
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int to = (group.rank() + distance) % group.size();
    const int from = (group.rank() - distance + group.size()) % group.size();
    const std::uint8_t out = all;
    std::uint8_t in = 0;
    group.exchange(to, &out, 1, from, &in, 1);
    all = all & in;
  }
  return all;
}

// As drop_board(), of one board: `members` are those of `comm` in the call that ends it.
template <class Group>
void drop(Process& process, Comm& comm, Group& members) {
  vote_all(members, 0);
  comm.board = nullptr;
  drop_shared_pieces(process, comm);
  if (comm.rank != 0) return;
  const Post answer = process.engine().port().withdraw(kBoardSegment | comm.context);
  FAIRLEAD_CHECK(answer == Post::done, "board of context {}", comm.context);
}

}  // namespace

template <class Group>
void agree_on_board(Process& process, Comm& comm, Group& members) {
  lci::Port& port = process.engine().port();
  const std::uint32_t segment = kBoardSegment | comm.context;
  const std::uint64_t flags = common_flags(process, comm);
  std::uint8_t possible = (flags & lci::kMappable) != 0 ? kHasBoard : 0;
  if ((flags & lci::kSingleCopy) != 0 && process.engine().choice().permits_single_copy()) {
    possible |= kCopies;
  }
  void* memory = nullptr;
  if ((possible & kHasBoard) != 0 && comm.rank == 0) {
    memory = port.allocate(segment, sizeof(Board), lci::Place::host);
    if (memory == nullptr) possible = 0;
  }
  const std::uint8_t agreed = vote_all(members, possible);
  comm.board_copies = (agreed & kCopies) != 0;
  comm.reduction_choice.fill(process.engine().choice().one_at_a_time());
  if ((agreed & kHasBoard) != 0) {
    if (comm.rank != 0) memory = port.map(comm.job_rank(0), segment);
    FAIRLEAD_CHECK(memory != nullptr, "segment {:#x} of rank {}", segment, comm.job_rank(0));
    comm.board = static_cast<Board*>(memory);
  } else if (memory != nullptr) {
    const Post answer = port.withdraw(segment);
    FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", segment);
  }
}
template void agree_on_board(Process&, Comm&, GroupCall&);
template void agree_on_board(Process&, Comm&, Subgroup<GroupCall>&);

bool settle_board(Process& process, Comm& comm, CollectiveKind kind, const char* call) {
  if (comm.board_settled || comm.size > kBoardRanks) return false;
  comm.board_settled = true;
  GroupCall group(process, comm, kind, call);
  agree_on_board(process, comm, group);
  return true;
}

void drop_board(Process& process, Comm& comm, const char* call) {
  if (comm.board == nullptr && comm.here == nullptr) return;
  GroupCall group(process, comm, CollectiveKind::comm_free, call);
  if (comm.board != nullptr) return drop(process, comm, group);
  Subgroup<GroupCall> members = in_node(group, *comm.nodes);
  drop(process, *comm.here, members);
  comm.here = nullptr;
}

}  // namespace fairlead::mpi
