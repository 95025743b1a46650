// Communicators: who is in them, copies, splits.
#include "fairlead/systems/mpi/attached_buffers.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collectives/board_agreement.h"
#include "fairlead/systems/mpi/comm_making.h"

namespace fairlead::mpi::api {
int comm_rank(MPI_Comm comm, int* rank) {
  const Call call("MPI_Comm_rank");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, rank, "rank")) return error;
  *rank = found->rank;
  return MPI_SUCCESS;
}

int comm_size(MPI_Comm comm, int* size) {
  const Call call("MPI_Comm_size");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, size, "size")) return error;
  *size = found->local_size();
  return MPI_SUCCESS;
}

int comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_dup");
  Comm* parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(parent, newcomm, "newcomm")) return error;
  const MadeComm made = copy_comm(call, *parent);
  if (made.comm != nullptr) *newcomm = Process::handle_of(made.comm);
  return made.error;
}

int comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_split");
  Comm* parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(parent, newcomm, "newcomm")) return error;
  if (color < 0 && color != MPI_UNDEFINED) {
    return call.fail(parent, MPI_ERR_ARG,
                     fmt::format("color is {}; it may be MPI_UNDEFINED, but not negative", color));
  }
  const MadeComm made = split_comm(call, *parent, CollectiveKind::comm_split, color, key,
                                   fmt::format("part {} of {}", color, parent->name));
  if (made.error == MPI_SUCCESS) *newcomm = Process::handle_or_null(made.comm);
  return made.error;
}

namespace {

// Collective: `waits` for all members.
int free_one(const Call& call, MPI_Comm* comm, bool waits) {
  if (const int error = call.check_output(nullptr, comm, "comm")) return error;
  Comm* found = call.process().find(*comm);
  if (found == nullptr) return call.check_comm(*comm);
  if (found == &call.process().world() || found == &call.process().self()) {
    return call.fail(found, MPI_ERR_COMM, "comm is predefined and cannot be freed");
  }
  if (const int error = delete_attributes(call, *found); error != MPI_SUCCESS) {
    return call.fail(found, error, "the delete function of an attribute failed");
  }
  if (waits) barrier(call.process(), found->everyone(), CollectiveKind::barrier, call.name());
  drop_board(call.process(), found->everyone(), call.name());
  drop_buffers(call, found);
  call.process().free_comm(found);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

int comm_free(MPI_Comm* comm) { return free_one(Call("MPI_Comm_free"), comm, false); }

// Requests that are under way go on, as with MPI_Comm_free.
int comm_disconnect(MPI_Comm* comm) { return free_one(Call("MPI_Comm_disconnect"), comm, true); }

// No rank is started by another.
int comm_get_parent(MPI_Comm* parent) {
  const Call call("MPI_Comm_get_parent");
  if (const int error = call.check_output(nullptr, parent, "parent")) return error;
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
