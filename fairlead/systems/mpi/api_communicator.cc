// Communicators: who is in them, copies, splits, error handlers.
#include <algorithm>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collectives/board.h"

namespace fairlead::mpi::api {
namespace {

// What every member tells the others when communicators are made.
struct Ballot {
  std::int32_t color;
  std::int32_t key;
  std::uint32_t next_context;
};

// The first context that is free on every member: the same on each, and different for any two
// communicators that share a member. 0: none left.
std::uint32_t agree_on_context(Process& process, const std::vector<Ballot>& ballots) {
  std::uint32_t context = 0;
  for (const Ballot& ballot : ballots) context = std::max(context, ballot.next_context);
  if (context + 2 > Process::kContextsEnd) return 0;
  process.next_context = context + 2;
  return context;
}

std::vector<Ballot> vote(const Call& call, Comm& comm, CollectiveKind kind, int color, int key) {
  std::vector<Ballot> ballots(static_cast<std::size_t>(comm.size));
  ballots[static_cast<std::size_t>(comm.rank)] = {color, key, call.process().next_context};
  allgather(call.process(), comm, kind, call.name(), ballots.data(), sizeof(Ballot));
  return ballots;
}

int no_context(const Call& call, const Comm& comm) {
  return call.fail(&comm, MPI_ERR_OTHER,
                   fmt::format("more than {} communicators were made",
                               (Process::kContextsEnd - Process::kFirstFreeContext) / 2));
}

int check_output(const Call& call, const Comm* comm, const void* pointer, const char* name) {
  if (pointer != nullptr) return MPI_SUCCESS;
  return call.fail(comm, MPI_ERR_ARG, fmt::format("{} is a null pointer", name));
}

// Of the members of `color`, by key and then by rank.
void fill_members(const Comm& parent, const std::vector<Ballot>& ballots, int color, Comm& made) {
  std::vector<std::pair<int, int>> order;
  for (int r = 0; r < parent.size; ++r) {
    const Ballot& ballot = ballots[static_cast<std::size_t>(r)];
    if (ballot.color == color) order.emplace_back(ballot.key, r);
  }
  std::sort(order.begin(), order.end());
  made.size = static_cast<int>(order.size());
  for (int i = 0; i < made.size; ++i) {
    const int r = order[static_cast<std::size_t>(i)].second;
    if (r == parent.rank) made.rank = i;
    made.members.push_back(parent.job_rank(r));
  }
  made.index_members();
}

}  // namespace

int comm_rank(MPI_Comm comm, int* rank) {
  const Call call("MPI_Comm_rank");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = check_output(call, found, rank, "rank")) return error;
  *rank = found->rank;
  return MPI_SUCCESS;
}

int comm_size(MPI_Comm comm, int* size) {
  const Call call("MPI_Comm_size");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = check_output(call, found, size, "size")) return error;
  *size = found->size;
  return MPI_SUCCESS;
}

int comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_dup");
  Comm* parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = check_output(call, parent, newcomm, "newcomm")) return error;
  const std::vector<Ballot> ballots = vote(call, *parent, CollectiveKind::comm_dup, 0, 0);
  const std::uint32_t context = agree_on_context(call.process(), ballots);
  if (context == 0) return no_context(call, *parent);
  Comm* made = call.process().make_comm();
  made->context = context;
  made->rank = parent->rank;
  made->size = parent->size;
  made->handler = parent->handler;
  made->name = "a copy of " + parent->name;
  made->members = parent->members;
  made->ranks = parent->ranks;
  *newcomm = Process::handle_of(made);
  return MPI_SUCCESS;
}

int comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_split");
  Comm* parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = check_output(call, parent, newcomm, "newcomm")) return error;
  if (color < 0 && color != MPI_UNDEFINED) {
    return call.fail(parent, MPI_ERR_ARG,
                     fmt::format("color is {}; it may be MPI_UNDEFINED, but not negative", color));
  }
  const std::vector<Ballot> ballots = vote(call, *parent, CollectiveKind::comm_split, color, key);
  const std::uint32_t context = agree_on_context(call.process(), ballots);
  if (context == 0) return no_context(call, *parent);
  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return MPI_SUCCESS;
  Comm* made = call.process().make_comm();
  made->context = context;
  made->handler = parent->handler;
  made->name = fmt::format("part {} of {}", color, parent->name);
  fill_members(*parent, ballots, color, *made);
  *newcomm = Process::handle_of(made);
  return MPI_SUCCESS;
}

int comm_free(MPI_Comm* comm) {
  const Call call("MPI_Comm_free");
  if (const int error = check_output(call, nullptr, comm, "comm")) return error;
  Comm* found = call.process().find(*comm);
  if (found == nullptr) return call.check_comm(*comm);
  if (found == &call.process().world() || found == &call.process().self()) {
    return call.fail(found, MPI_ERR_COMM, "comm is predefined and cannot be freed");
  }
  drop_board(call.process(), *found, call.name());
  call.process().free_comm(found);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  const Call call("MPI_Comm_set_errhandler");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (errhandler != MPI_ERRORS_ARE_FATAL && errhandler != MPI_ERRORS_ABORT &&
      errhandler != MPI_ERRORS_RETURN) {
    return call.fail(found, MPI_ERR_ERRHANDLER,
                     "errhandler is none of MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT and "
                     "MPI_ERRORS_RETURN");
  }
  found->handler = errhandler;
  return MPI_SUCCESS;
}

int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const Call call("MPI_Comm_get_errhandler");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = check_output(call, found, errhandler, "errhandler")) return error;
  *errhandler = found->handler;
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
