// The collective calls: arguments checked, then the algorithms of collectives/.
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
  const Buffer data = buffer_of(call, found, buffer, count, datatype, "");
  if (data.error != MPI_SUCCESS) return data.error;
  if (const int error = call.check_root(found, root)) return error;
  Row row(call, data.data());
  if (found->rank == root) row.load();
  mpi::bcast(call.process(), *found, call.name(), row.at(), data.bytes, root);
  if (found->rank != root) row.store();
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
      reduction_of(call, found, own, count, datatype, op, in_place ? "recv" : "send");
  if (how.error != MPI_SUCCESS) return how.error;
  if (at_root) {
    const Buffer result = buffer_of(call, found, recvbuf, count, datatype, "recv");
    if (result.error != MPI_SUCCESS) return result.error;
  }
  Image in(how, own, how.operand.count);
  Image out(how, recvbuf, at_root ? how.operand.count : 0);
  in.load();
  mpi::reduce(call.process(), *found, call.name(), in.at(), out.at(), how.operand, root);
  if (at_root) out.store();
  return MPI_SUCCESS;
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  const Call call("MPI_Allreduce");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Reduction how = reduction_of(call, found, recvbuf, count, datatype, op, "recv");
  if (how.error != MPI_SUCCESS) return how.error;
  if (sendbuf != MPI_IN_PLACE) {
    const Buffer own = buffer_of(call, found, sendbuf, count, datatype, "send");
    if (own.error != MPI_SUCCESS) return own.error;
  }
  Image in(how, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, how.operand.count);
  Image out(how, recvbuf, how.operand.count);
  in.load();
  mpi::allreduce(call.process(), *found, call.name(), in.at(), out.at(), how.operand);
  out.store();
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
  Buffer in;
  Buffer out;
  if (!in_place) in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
  if (in.error != MPI_SUCCESS) return in.error;
  if (at_root) out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root && !in_place) {
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  Row own(call, in.data());
  Row all(call, at_root ? out.data(found->size) : Data{});
  own.load();
  if (in_place) all.load();
  mpi::gather(call.process(), *found, call.name(), in_place ? nullptr : own.at(), all.at(),
              at_root ? out.bytes : in.bytes, root);
  all.store();
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
  Buffer in;
  Buffer out;
  if (at_root) in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
  if (in.error != MPI_SUCCESS) return in.error;
  if (!in_place) out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root && !in_place) {
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  Row all(call, at_root ? in.data(found->size) : Data{});
  Row own(call, out.data());
  all.load();
  mpi::scatter(call.process(), *found, call.name(), all.at(), in_place ? nullptr : own.at(),
               at_root ? in.bytes : out.bytes, root);
  own.store();
  return MPI_SUCCESS;
}

int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Call call("MPI_Allgather");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Buffer out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  Buffer in;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (!in_place) {
    in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  Row all(call, out.data(found->size));
  if (in_place) {
    all.load();
  } else if (out.bytes != 0) {
    pack(in.data(),
         static_cast<std::byte*>(all.at()) + static_cast<std::uint64_t>(found->rank) * out.bytes);
  }
  mpi::allgather(call.process(), *found, CollectiveKind::allgather, call.name(), all.at(),
                 out.bytes);
  all.store();
  return MPI_SUCCESS;
}

int alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Call call("MPI_Alltoall");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Buffer out = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (out.error != MPI_SUCCESS) return out.error;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Buffer in;
  if (!in_place) {
    in = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
    if (const int error = check_same(call, found, in.bytes, out.bytes)) return error;
  }
  Row from(call, in.data(found->size));
  Row to(call, out.data(found->size));
  from.load();
  if (in_place) to.load();
  mpi::alltoall(call.process(), *found, call.name(), in_place ? nullptr : from.at(), to.at(),
                out.bytes);
  to.store();
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
