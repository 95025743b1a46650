// The collective calls with a count a rank: arguments checked, then collectives/blocks.cc.
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"

namespace fairlead::mpi::api {
namespace {

int all_to_all(const Call& call, Comm& comm, CollectiveKind kind, const Arrays& out,
               const Arrays& in) {
  if (const int error = check_arrays(call, &comm, in)) return error;
  RowBlocks received(call, in, comm.size);
  const Blocks to = received.blocks();
  if (out.buffer == MPI_IN_PLACE) {
    received.load();
    alltoallv(call.process(), comm, kind, call.name(), nullptr, to);
    received.store();
    return MPI_SUCCESS;
  }
  if (const int error = check_arrays(call, &comm, out)) return error;
  RowBlocks sent(call, out, comm.size);
  const Blocks from = sent.blocks();
  if (const int error = check_same(call, &comm, from.bytes(comm.rank), to.bytes(comm.rank))) {
    return error;
  }
  sent.load();
  alltoallv(call.process(), comm, kind, call.name(), &from, to);
  received.store();
  return MPI_SUCCESS;
}

}  // namespace

int gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Call call("MPI_Gatherv");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && sendbuf == MPI_IN_PLACE;
  const Arrays in{recvbuf, recvcounts, displs, nullptr, recvtype, "recv"};
  Buffer out;
  if (!in_place) out = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root) {
    if (const int error = check_arrays(call, found, in)) return error;
  }
  RowBlocks all(call, in, at_root ? found->size : 0);
  if (at_root) {
    const std::uint64_t own = all.blocks().bytes(root);
    if (const int error = check_same(call, found, in_place ? own : out.bytes, own)) return error;
    if (in_place) all.load(root);
  }
  Row own(call, out.data());
  own.load();
  mpi::gatherv(call.process(), *found, call.name(), in_place ? nullptr : own.at(), out.bytes,
               all.blocks(), root);
  all.store();
  return MPI_SUCCESS;
}

int scatterv(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Call call("MPI_Scatterv");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && recvbuf == MPI_IN_PLACE;
  const Arrays out{sendbuf, sendcounts, displs, nullptr, sendtype, "send"};
  Buffer in;
  if (!in_place) in = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (in.error != MPI_SUCCESS) return in.error;
  if (at_root) {
    if (const int error = check_arrays(call, found, out)) return error;
  }
  RowBlocks all(call, out, at_root ? found->size : 0);
  if (at_root) {
    const std::uint64_t own = all.blocks().bytes(root);
    if (const int error = check_same(call, found, own, in_place ? own : in.bytes)) return error;
    all.load();
  }
  Row own(call, in.data());
  mpi::scatterv(call.process(), *found, call.name(), all.blocks(), in_place ? nullptr : own.at(),
                in.bytes, root);
  own.store();
  return MPI_SUCCESS;
}

int allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm) {
  const Call call("MPI_Allgatherv");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  const Arrays in{recvbuf, recvcounts, displs, nullptr, recvtype, "recv"};
  if (const int error = check_arrays(call, found, in)) return error;
  RowBlocks received(call, in, found->size);
  const Blocks all = received.blocks();
  if (sendbuf == MPI_IN_PLACE) received.load(found->rank);
  if (sendbuf != MPI_IN_PLACE) {
    const Buffer out = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
    if (out.error != MPI_SUCCESS) return out.error;
    if (const int error = check_same(call, found, out.bytes, all.bytes(found->rank))) return error;
    if (out.bytes != 0) pack(out.data(), all.at(found->rank));
  }
  mpi::allgatherv(call.process(), *found, call.name(), all);
  received.store();
  return MPI_SUCCESS;
}

int alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
              void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
              MPI_Comm comm) {
  const Call call("MPI_Alltoallv");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  return all_to_all(call, *found, CollectiveKind::alltoallv,
                    {sendbuf, sendcounts, sdispls, nullptr, sendtype, "send"},
                    {recvbuf, recvcounts, rdispls, nullptr, recvtype, "recv"});
}

int alltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls,
              const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
              const MPI_Datatype recvtypes[], MPI_Comm comm) {
  const Call call("MPI_Alltoallw");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (recvtypes == nullptr || (sendtypes == nullptr && sendbuf != MPI_IN_PLACE)) {
    return call.fail(found, MPI_ERR_ARG, "sendtypes or recvtypes is a null pointer");
  }
  return all_to_all(call, *found, CollectiveKind::alltoallw,
                    {sendbuf, sendcounts, sdispls, sendtypes, MPI_DATATYPE_NULL, "send"},
                    {recvbuf, recvcounts, rdispls, recvtypes, MPI_DATATYPE_NULL, "recv"});
}

}  // namespace fairlead::mpi::api
