// The collective calls: arguments checked, then the algorithms of collectives/.
#include <cstring>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collective_forms.h"

namespace fairlead::mpi::api {
int barrier_as(const Call& call, const Form& form, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [](Recorder& group) { record_barrier(group); });
  }
  mpi::barrier(call.process(), *found, CollectiveKind::barrier, call.name());
  return MPI_SUCCESS;
}

int barrier(MPI_Comm comm) { return barrier_as(Call("MPI_Barrier"), Form(), comm); }

int bcast_as(const Call& call, const Form& form, void* buffer, MPI_Count count,
             MPI_Datatype datatype, int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Extent data = extent(call, found, buffer, count, datatype, "");
  if (data.error != MPI_SUCCESS) return data.error;
  if (const int error = call.check_root(found, root)) return error;
  if (!form.at_once()) {
    return make_schedule(call, *found, form,
                         [&](Recorder& group) { record_bcast(group, buffer, data.bytes, root); });
  }
  mpi::bcast(call.process(), *found, call.name(), buffer, data.bytes, root);
  return MPI_SUCCESS;
}

int bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return bcast_as(Call("MPI_Bcast"), Form(), buffer, count, datatype, root, comm);
}

int reduce_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
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
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      record_reduce(group, own, recvbuf, how.operand, root);
    });
  }
  mpi::reduce(call.process(), *found, call.name(), own, recvbuf, how.operand, root);
  return MPI_SUCCESS;
}

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
           int root, MPI_Comm comm) {
  return reduce_as(Call("MPI_Reduce"), Form(), sendbuf, recvbuf, count, datatype, op, root, comm);
}

int allreduce_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                 MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Reduction how = reduction(call, found, recvbuf, count, datatype, op, "recv");
  if (how.error != MPI_SUCCESS) return how.error;
  if (sendbuf != MPI_IN_PLACE) {
    const Extent in = extent(call, found, sendbuf, count, datatype, "send");
    if (in.error != MPI_SUCCESS) return in.error;
  }
  const void* const own = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      record_allreduce(group, own, recvbuf, how.operand);
    });
  }
  mpi::allreduce(call.process(), *found, call.name(), own, recvbuf, how.operand);
  return MPI_SUCCESS;
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  return allreduce_as(Call("MPI_Allreduce"), Form(), sendbuf, recvbuf, count, datatype, op, comm);
}

int gather_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
              MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
              int root, MPI_Comm comm) {
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
  const void* const own = in_place ? nullptr : sendbuf;
  const std::uint64_t block = at_root ? out.bytes : in.bytes;
  if (!form.at_once()) {
    return make_schedule(call, *found, form,
                         [&](Recorder& group) { record_gather(group, own, recvbuf, block, root); });
  }
  mpi::gather(call.process(), *found, call.name(), own, recvbuf, block, root);
  return MPI_SUCCESS;
}

int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather_as(Call("MPI_Gather"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                   recvtype, root, comm);
}

int scatter_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
               MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
               int root, MPI_Comm comm) {
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
  void* const own = in_place ? nullptr : recvbuf;
  const std::uint64_t block = at_root ? in.bytes : out.bytes;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      record_scatter(group, sendbuf, own, block, root);
    });
  }
  mpi::scatter(call.process(), *found, call.name(), sendbuf, own, block, root);
  return MPI_SUCCESS;
}

int scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter_as(Call("MPI_Scatter"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, root, comm);
}

int allgather_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                 MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                 MPI_Comm comm) {
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
  std::byte* const place =
      static_cast<std::byte*>(recvbuf) + static_cast<std::uint64_t>(found->rank) * out.bytes;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      if (!in_place) group.copy(place, sendbuf, out.bytes);
      record_allgather(group, recvbuf, out.bytes);
    });
  }
  if (!in_place && out.bytes != 0) std::memcpy(place, sendbuf, out.bytes);
  mpi::allgather(call.process(), *found, CollectiveKind::allgather, call.name(), recvbuf,
                 out.bytes);
  return MPI_SUCCESS;
}

int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather_as(Call("MPI_Allgather"), Form(), sendbuf, sendcount, sendtype, recvbuf,
                      recvcount, recvtype, comm);
}

int alltoall_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                MPI_Comm comm) {
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
  const void* const from = in_place ? nullptr : sendbuf;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      record_alltoall(group, from, recvbuf, out.bytes);
    });
  }
  mpi::alltoall(call.process(), *found, call.name(), from, recvbuf, out.bytes);
  return MPI_SUCCESS;
}

int alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall_as(Call("MPI_Alltoall"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                     recvtype, comm);
}

}  // namespace fairlead::mpi::api
