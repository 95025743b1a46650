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

// No part of a node is known here: who asks for one gets none. `info` may be nullptr.
bool asks_for_node(int split_type, const Info* info) {
  if (split_type == MPI_COMM_TYPE_SHARED) return true;
  const bool guided =
      split_type == MPI_COMM_TYPE_HW_GUIDED || split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
  if (!guided || info == nullptr) return false;
  const std::string* const type = info->find("mpi_hw_resource_type");
  return type != nullptr && (*type == "mpi_shared_memory" || *type == "hwloc://Machine");
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
  const int color = asks_for_node(split_type, Objects<Info>::find(info))
                        ? static_cast<int>(call.process().context().node_of(call.engine().self()))
                        : MPI_UNDEFINED;
  const MadeComm made = split_comm(call, *parent, CollectiveKind::comm_split_type, color, key,
                                   fmt::format("one node of {}", parent->name));
  if (made.error == MPI_SUCCESS) *newcomm = Process::handle_or_null(made.comm);
  return made.error;
}

}  // namespace fairlead::mpi::api
