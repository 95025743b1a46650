// The collective calls: arguments checked, then the algorithms of collectives/.
#include <cstring>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"

namespace fairlead::mpi::api {
int barrier(MPI_Comm comm) {
  const Call call("MPI_Barrier");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  mpi::barrier(call.process(), *found, CollectiveKind::barrier, call.name());
  return MPI_SUCCESS;
}

int bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  const Call call("MPI_Bcast");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Extent data = extent(call, found, buffer, count, datatype, "");
  if (data.error != MPI_SUCCESS) return data.error;
  if (const int error = call.check_root(found, root)) return error;
  mpi::bcast(call.process(), *found, call.name(), buffer, data.bytes, root);
  return MPI_SUCCESS;
}

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
           int root, MPI_Comm comm) {
  const Call call("MPI_Reduce");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && sendbuf == MPI_IN_PLACE;
  const void* own = in_place ? recvbuf : sendbuf;
  const Reduction how =
      reduction(call, found, own, count, datatype, op, in_place ? "recv" : "send");
  if (how.error != MPI_SUCCESS) return how.error;
  if (at_root) {
    const Extent result = extent(call, found, recvbuf, count, datatype, "recv");
    if (result.error != MPI_SUCCESS) return result.error;
  }
  mpi::reduce(call.process(), *found, call.name(), own, recvbuf, how.operand, root);
  return MPI_SUCCESS;
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  const Call call("MPI_Allreduce");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Reduction how = reduction(call, found, recvbuf, count, datatype, op, "recv");
  if (how.error != MPI_SUCCESS) return how.error;
  if (sendbuf != MPI_IN_PLACE) {
    const Extent own = extent(call, found, sendbuf, count, datatype, "send");
    if (own.error != MPI_SUCCESS) return own.error;
  }
  mpi::allreduce(call.process(), *found, call.name(), sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                 recvbuf, how.operand);
  return MPI_SUCCESS;
}

int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Call call("MPI_Gather");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && sendbuf == MPI_IN_PLACE;
  Extent in;
  Extent out;
  if (!in_place) in = extent(call, found, sendbuf, sendcount, sendtype, "send");
  if (in.error != MPI_SUCCESS) return in.error;
  if (at_root) out = extent(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root && !in_place) {
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  mpi::gather(call.process(), *found, call.name(), in_place ? nullptr : sendbuf, recvbuf,
              at_root ? out.bytes : in.bytes, root);
  return MPI_SUCCESS;
}

int scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Call call("MPI_Scatter");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && recvbuf == MPI_IN_PLACE;
  Extent in;
  Extent out;
  if (at_root) in = extent(call, found, sendbuf, sendcount, sendtype, "send");
  if (in.error != MPI_SUCCESS) return in.error;
  if (!in_place) out = extent(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root && !in_place) {
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  mpi::scatter(call.process(), *found, call.name(), sendbuf, in_place ? nullptr : recvbuf,
               at_root ? in.bytes : out.bytes, root);
  return MPI_SUCCESS;
}

int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Call call("MPI_Allgather");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Extent out = extent(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (!in_place) {
    const Extent in = extent(call, found, sendbuf, sendcount, sendtype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
    if (out.bytes != 0) {
      std::memcpy(
          static_cast<std::byte*>(recvbuf) + static_cast<std::uint64_t>(found->rank) * out.bytes,
          sendbuf, out.bytes);
    }
  }
  mpi::allgather(call.process(), *found, CollectiveKind::allgather, call.name(), recvbuf,
                 out.bytes);
  return MPI_SUCCESS;
}

int alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Call call("MPI_Alltoall");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Extent out = extent(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (!in_place) {
    const Extent in = extent(call, found, sendbuf, sendcount, sendtype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  mpi::alltoall(call.process(), *found, call.name(), in_place ? nullptr : sendbuf, recvbuf,
                out.bytes);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
