// Intercommunicators: made from two communicators, and made one; who is in them. Splits and copies
// are in comm_making.cc, collectives in api_intercomm_collective.cc.
#include <algorithm>
#include <limits>
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/collectives/schedule.h"
#include "fairlead/systems/mpi/comm_making.h"

namespace fairlead::mpi::api {
namespace {

// What the leaders tell each other, and then their groups.
struct Introduction {
  std::int32_t error = MPI_SUCCESS;  // of this group's leader
  std::int32_t size = 0;
  std::int32_t tag = 0;  // the leaders', by which they meet
};

// What is significant at the leader only.
struct Peer {
  MPI_Comm comm;
  int leader;
  int tag;
};

int check_peer(const Call& call, const Comm& local, const Peer& peer) {
  const Comm* const found = call.process().find(peer.comm);
  if (found == nullptr) return call.check_comm(peer.comm);
  if (peer.leader < 0 || peer.leader >= found->size) {
    return call.fail(&local, MPI_ERR_RANK,
                     fmt::format("remote_leader is {}, but the ranks of peer_comm are 0 to {}",
                                 peer.leader, found->size - 1));
  }
  return call.check_tag(&local, peer.tag, false);
}

// Swaps `size` bytes with the leader of the other group. The tags are those of no other schedule:
// negative, and between those of comm_making.cc.
void swap_with_peer(const Call& call, const Peer& peer, const void* own, std::uint64_t own_size,
                    void* theirs, std::uint64_t size) {
  constexpr std::int32_t kTagBits = 0x1fffffff;
  Comm& comm = *call.process().find(peer.comm);
  const std::int32_t first = std::numeric_limits<std::int32_t>::min() / 2;
  Schedule swap(call.process(), comm, RequestKind::task, (comm.context + 1) | kScheduleContext,
                first + (peer.tag & kTagBits), call.name());
  Recorder recorder(swap);
  recorder.exchange(peer.leader, own, own_size, peer.leader, theirs, size);
  swap.begin();
  call.engine().wait(swap.request(), call.name());
}

// Job ranks of the remote group, by rank there, and the tag that the leaders met by. Empty: an
// error was raised.
std::vector<Rank> meet(const Call& call, Comm& local, int leader, const Peer& peer, int* tag,
                       int* error) {
  const bool leads = local.rank == leader;
  Introduction theirs;
  if (leads) theirs.error = check_peer(call, local, peer);
  const Introduction own{MPI_SUCCESS, local.size, peer.tag};
  if (leads && theirs.error == MPI_SUCCESS) {
    swap_with_peer(call, peer, &own, sizeof own, &theirs, sizeof theirs);
  }
  const int own_error = leads ? theirs.error : MPI_SUCCESS;
  bcast(call.process(), local, call.name(), &theirs, sizeof theirs, leader);
  if (theirs.error != MPI_SUCCESS) {
    *error = leads ? own_error
                   : call.fail(&local, theirs.error, "the arguments of the local leader are wrong");
    return {};
  }
  std::vector<Rank> remote(static_cast<std::size_t>(theirs.size));
  const std::uint64_t bytes = remote.size() * sizeof(Rank);
  if (leads) {
    std::vector<Rank> members;
    for (int r = 0; r < local.size; ++r) members.push_back(local.job_rank(r));
    swap_with_peer(call, peer, members.data(), members.size() * sizeof(Rank), remote.data(), bytes);
  }
  bcast(call.process(), local, call.name(), remote.data(), bytes, leader);
  *tag = theirs.tag;
  for (const Rank r : remote) {
    if (!local.has_local(r)) continue;
    *error =
        call.fail(&local, MPI_ERR_COMM, fmt::format("rank {} of the job is in both groups", r));
    return {};
  }
  return remote;
}

// Both groups' members, those of the group with the lower job rank at its head first: the same at
// all. Returns how many these are.
int fill_both(const Comm& local, const std::vector<Rank>& remote, Comm& both) {
  std::vector<Rank> own;
  for (int r = 0; r < local.size; ++r) own.push_back(local.job_rank(r));
  const bool is_first = own.front() < remote.front();
  both.members = is_first ? own : remote;
  const std::vector<Rank>& rest = is_first ? remote : own;
  const auto first = static_cast<int>(both.members.size());
  both.members.insert(both.members.end(), rest.begin(), rest.end());
  both.index_members();
  both.size = static_cast<int>(both.members.size());
  both.rank = local.rank + (is_first ? 0 : first);
  return first;
}

// The communicator of a call, which is an intercommunicator; nullptr: an error was raised.
Comm* find_intercomm(const Call& call, MPI_Comm handle, int* error) {
  Comm* const found = call.process().find(handle);
  *error = MPI_SUCCESS;
  if (found == nullptr) {
    *error = call.check_comm(handle);
  } else if (found->both == nullptr) {
    *error = call.fail(found, MPI_ERR_COMM, "comm is no intercommunicator");
  }
  return *error == MPI_SUCCESS ? found : nullptr;
}

// The intercommunicator of `local` and the group that the peer leads.
MadeComm connect(const Call& call, Comm& local, int leader, const Peer& peer) {
  Process& process = call.process();
  int tag = 0;
  int error = MPI_SUCCESS;
  const std::vector<Rank> remote = meet(call, local, leader, peer, &tag, &error);
  if (remote.empty()) return {nullptr, error};
  Comm* const both = process.make_comm();
  const int first = fill_both(local, remote, *both);
  if (!agree_on_context(call, *both, tag)) {
    process.free_comm(both);
    return {nullptr, no_context_left(call, local)};
  }
  Comm* const made = intercomm_of(process, *both, first, "an intercommunicator of " + local.name);
  process.set_handler(*made, local.handler);
  return {made, MPI_SUCCESS};
}

}  // namespace

int intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                     int tag, MPI_Comm* newintercomm) {
  const Call call("MPI_Intercomm_create");
  Process& process = call.process();
  Comm* const local = process.find(local_comm);
  if (local == nullptr) return call.check_comm(local_comm);
  if (const int error = check_no_intercomm(call, *local)) return error;
  if (local_leader < 0 || local_leader >= local->size) {
    return call.fail(local, MPI_ERR_RANK,
                     fmt::format("local_leader is {}, but the ranks are 0 to {}", local_leader,
                                 local->size - 1));
  }
  if (const int error = call.check_output(local, newintercomm, "newintercomm")) return error;
  const MadeComm made = connect(call, *local, local_leader, {peer_comm, remote_leader, tag});
  if (made.error == MPI_SUCCESS) *newintercomm = Process::handle_of(made.comm);
  return made.error;
}

int intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                 int remote_leader, const char* stringtag, MPI_Info,
                                 MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  const Call call("MPI_Intercomm_create_from_groups");
  Process& process = call.process();
  const Group* const own = Objects<Group>::find(local_group);
  const Group* const theirs = Objects<Group>::find(remote_group);
  const int place = own == nullptr ? MPI_UNDEFINED : own->rank_of(call.engine().self());
  if (place == MPI_UNDEFINED) {
    return call.fail(nullptr, MPI_ERR_GROUP, "local_group is none that this rank is a member of");
  }
  if (local_leader < 0 || local_leader >= own->size()) {
    return call.fail(nullptr, MPI_ERR_RANK,
                     fmt::format("local_leader is {}, but the ranks are 0 to {}", local_leader,
                                 own->size() - 1));
  }
  if (const int error = check_from_groups(call, stringtag, errhandler, newintercomm)) return error;
  // The remote group matters at the leader alone.
  Peer peer{MPI_COMM_WORLD, MPI_UNDEFINED, tag_of(stringtag)};
  if (theirs != nullptr && remote_leader >= 0 && remote_leader < theirs->size()) {
    peer.leader = static_cast<int>(theirs->job_rank(remote_leader));
  } else if (place == local_leader) {
    return call.fail(nullptr, theirs == nullptr ? MPI_ERR_GROUP : MPI_ERR_RANK,
                     "remote_group is no group, or has no remote_leader");
  }
  const MadeComm local =
      group_comm(call, process.world(), own->members, peer.tag, "the local group");
  if (local.error != MPI_SUCCESS) return local.error;
  process.set_handler(*local.comm, errhandler);
  const MadeComm made = connect(call, *local.comm, local_leader, peer);
  if (made.error == MPI_SUCCESS) *newintercomm = Process::handle_of(made.comm);
  drop_board(process, *local.comm, call.name());
  process.free_comm(local.comm);
  return made.error;
}

int intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  const Call call("MPI_Intercomm_merge");
  int error = MPI_SUCCESS;
  Comm* const found = find_intercomm(call, intercomm, &error);
  if (found == nullptr) return error;
  if (const int wrong = call.check_output(found, newintracomm, "newintracomm")) return wrong;
  const MadeComm made = split_comm(call, *found->both, CollectiveKind::intercomm_merge, 0,
                                   high != 0 ? 1 : 0, "both groups of " + found->name);
  if (made.error == MPI_SUCCESS) *newintracomm = Process::handle_of(made.comm);
  return made.error;
}

int comm_test_inter(MPI_Comm comm, int* flag) {
  const Call call("MPI_Comm_test_inter");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, flag, "flag")) return error;
  *flag = found->both != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

int comm_remote_size(MPI_Comm comm, int* size) {
  const Call call("MPI_Comm_remote_size");
  int error = MPI_SUCCESS;
  const Comm* const found = find_intercomm(call, comm, &error);
  if (found == nullptr) return error;
  if (const int wrong = call.check_output(found, size, "size")) return wrong;
  *size = found->size;
  return MPI_SUCCESS;
}

int comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  const Call call("MPI_Comm_remote_group");
  int error = MPI_SUCCESS;
  const Comm* const found = find_intercomm(call, comm, &error);
  if (found == nullptr) return error;
  if (const int wrong = call.check_output(found, group, "group")) return wrong;
  Group* const made = call.process().groups.make();
  made->members = found->members;
  *group = reinterpret_cast<MPI_Group>(made);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
