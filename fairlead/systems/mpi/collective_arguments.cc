#include "fairlead/systems/mpi/collective_arguments.h"

#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi {

int check_same(const Call& call, const Comm* comm, std::uint64_t sent, std::uint64_t received) {
  if (sent == received) return MPI_SUCCESS;
  return call.fail(comm, MPI_ERR_COUNT,
                   fmt::format("sendcount and recvcount do not agree: a block of {} bytes is sent, "
                               "one of {} bytes received",
                               sent, received));
}

Reduction reduction(const Call& call, const Comm* comm, const void* buffer, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, const char* which) {
  const Extent checked = extent(call, comm, buffer, count, datatype, which);
  if (checked.error != MPI_SUCCESS) return {{}, checked.error};
  const auto elements = static_cast<std::uint64_t>(count);
  const std::uint64_t element = size_of_type(datatype);
  if (Combine found = find_combine(op, datatype); found != nullptr) {
    return {{found, elements, element}, MPI_SUCCESS};
  }
  if (const UserOperation* user = Objects<UserOperation>::find(op); user != nullptr) {
    return {{nullptr, elements, element, user, datatype}, MPI_SUCCESS};
  }
  const char* name = operation_name(op);
  const std::string what = name == nullptr ? std::string("op is no operation of this library")
                                           : fmt::format("op is {}, which is not defined on {}",
                                                         name, find_type(datatype)->name);
  return {{}, call.fail(comm, MPI_ERR_OP, what)};
}

}  // namespace fairlead::mpi
