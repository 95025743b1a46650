// What communicators have beside their members: names, hints; and parts that share something.
#include <cstring>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/text.h"

namespace fairlead::mpi::api {
namespace {

int check_info(const Call& call, const Comm* comm, MPI_Info info) {
  if (is_info(info)) return MPI_SUCCESS;
  return call.fail(comm, MPI_ERR_INFO, "info is no info object, or was freed");
}

}  // namespace

int comm_set_name(MPI_Comm comm, const char* comm_name) {
  const Call call("MPI_Comm_set_name");
  Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, comm_name, "comm_name")) return error;
  found->given.assign(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
  found->name = found->given;
  return MPI_SUCCESS;
}

int comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  const Call call("MPI_Comm_get_name");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr && comm != MPI_COMM_NULL) return call.check_comm(comm);
  if (const int error = call.check_output(found, comm_name, "comm_name")) return error;
  if (const int error = call.check_output(found, resultlen, "resultlen")) return error;
  copy_text(found == nullptr ? "MPI_COMM_NULL" : found->given, MPI_MAX_OBJECT_NAME, comm_name,
            resultlen);
  return MPI_SUCCESS;
}

// No hint changes anything here.
int comm_set_info(MPI_Comm comm, MPI_Info info) {
  const Call call("MPI_Comm_set_info");
  const Comm* const found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : check_info(call, found, info);
}

int comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  const Call call("MPI_Comm_get_info");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, info_used, "info_used")) return error;
  *info_used = reinterpret_cast<MPI_Info>(call.process().infos.make());
  return MPI_SUCCESS;
}

int comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const Call call("MPI_Comm_idup");
  Comm* const parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  return begin_copy(call, *parent, newcomm, request);
}

int comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  const Call call("MPI_Comm_idup_with_info");
  Comm* const parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = check_info(call, parent, info)) return error;
  return begin_copy(call, *parent, newcomm, request);
}

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_dup_with_info");
  Comm* const parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = check_info(call, parent, info)) return error;
  if (const int error = call.check_output(parent, newcomm, "newcomm")) return error;
  const MadeComm made = copy_comm(call, *parent);
  if (made.comm != nullptr) *newcomm = Process::handle_of(made.comm);
  return made.error;
}

namespace {

// The kinds of parts that a communicator is split into by type; no part of a node is known here:
// who asks for one gets none.
enum class Part { none, node, shared_memory };

// `info` may be nullptr.
Part wanted_part(int split_type, const Info* info) {
  if (split_type == MPI_COMM_TYPE_SHARED) return Part::shared_memory;
  const bool guided =
      split_type == MPI_COMM_TYPE_HW_GUIDED || split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
  if (!guided || info == nullptr) return Part::none;
  const std::string* const type = info->find("mpi_hw_resource_type");
  if (type == nullptr) return Part::none;
  if (*type == "mpi_shared_memory") return Part::shared_memory;
  return *type == "hwloc://Machine" ? Part::node : Part::none;
}

// A number that the ranks of a part have in common and no other has: that of the node, or of the
// first rank of the job on this node whose memory this one can map. Windows of
// MPI_Win_allocate_shared need that; ranks of one node may have nothing but a network in common.
int color_of(const Call& call, Part part) {
  const run::Context& context = call.process().context();
  const Rank self = call.engine().self();
  const auto node = context.node_of(self);
  if (part == Part::none) return MPI_UNDEFINED;
  if (part == Part::node) return static_cast<int>(node);
  for (Rank rank = 0; rank < self; ++rank) {
    if (context.node_of(rank) != node) continue;
    if ((call.engine().flags(rank) & lci::kMappable) != 0) return static_cast<int>(rank);
  }
  return static_cast<int>(self);
}

}  // namespace

int comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  const Call call("MPI_Comm_split_type");
  Comm* const parent = call.process().find(comm);
  if (parent == nullptr) return call.check_comm(comm);
  if (const int error = check_info(call, parent, info)) return error;
  if (const int error = call.check_output(parent, newcomm, "newcomm")) return error;
  const bool known =
      split_type == MPI_COMM_TYPE_SHARED || split_type == MPI_COMM_TYPE_HW_UNGUIDED ||
      split_type == MPI_COMM_TYPE_HW_GUIDED || split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
  if (!known && split_type != MPI_UNDEFINED) {
    return call.fail(parent, MPI_ERR_ARG, fmt::format("split_type is {}", split_type));
  }
  const Part part = wanted_part(split_type, Objects<Info>::find(info));
  const MadeComm made = split_comm(
      call, *parent, CollectiveKind::comm_split_type, color_of(call, part), key,
      fmt::format("{} of {}", part == Part::node ? "one node" : "shared memory", parent->name));
  if (made.error == MPI_SUCCESS) *newcomm = Process::handle_or_null(made.comm);
  return made.error;
}

}  // namespace fairlead::mpi::api
