// The collective calls with a count a rank: arguments checked, then collectives/blocks.cc.
#include "fairlead/systems/mpi/apart.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collective_forms.h"
#include "fairlead/systems/mpi/intercomm_collectives.h"

namespace fairlead::mpi::api {
namespace {

// Whether this rank's own data are apart from their place among the blocks of all.
int check_place_apart(const Call& call, const Comm* comm, const Buffer& own, const void* place) {
  return check_apart(call, comm, own.at, place, own.type == nullptr ? own.bytes : 0);
}

// In place: the blocks of `in` are sent and received.
int all_to_all(const Call& call, const Form& form, Comm& comm, CollectiveKind kind,
               const Arrays& out, const Arrays& in) {
  if (comm.both != nullptr) return alltoall_between(call, form, comm, out, in);
  const bool in_place = out.buffer == MPI_IN_PLACE;
  if (const int error = check_arrays(call, &comm, in)) return error;
  if (!in_place) {
    if (const int error = check_arrays(call, &comm, out)) return error;
  }
  RowBlocks received(call, in, comm.size);
  RowBlocks sent(call, out, in_place ? 0 : comm.size);
  const Blocks to = received.blocks();
  const Blocks from = sent.blocks();
  if (!in_place) {
    const std::uint64_t own = to.bytes(comm.rank);
    if (const int error = check_same(call, &comm, from.bytes(comm.rank), own)) return error;
    const int error = check_apart(call, &comm, from.at(comm.rank), to.at(comm.rank), own);
    if (error != MPI_SUCCESS) return error;
  }
  if (!form.at_once()) {
    return make_schedule(call, comm, form, [&](Recorder& group) {
      RowBlocks& coming = group.keep<RowBlocks>(call, in, comm.size);
      RowBlocks& going = group.keep<RowBlocks>(call, out, in_place ? 0 : comm.size);
      const Blocks own = going.blocks();
      group.load(in_place ? coming : going);
      record_alltoallv(group, in_place ? nullptr : &own, coming.blocks());
      group.store(coming);
    });
  }
  (in_place ? received : sent).load();
  alltoallv(call.process(), comm, kind, call.name(), in_place ? nullptr : &from, to);
  received.store();
  return MPI_SUCCESS;
}

}  // namespace

int gatherv_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
               MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
               MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    return gather_between(call, form, *found, {sendbuf, sendcount, sendtype, "send"},
                          {recvbuf, recvcounts, displs, nullptr, recvtype, "recv"}, root);
  }
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
  const int members = at_root ? found->size : 0;
  RowBlocks all(call, in, members);
  if (at_root) {
    const std::uint64_t own = all.blocks().bytes(root);
    if (const int error = check_same(call, found, in_place ? own : out.bytes, own)) return error;
    if (const int error = check_place_apart(call, found, out, all.blocks().at(root))) return error;
  }
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      RowBlocks& whole = group.keep<RowBlocks>(call, in, members);
      Row& own = group.keep<Row>(call, out.data());
      if (in_place) group.load(whole, root);
      group.load(own);
      record_gatherv(group, in_place ? nullptr : own.at(), out.bytes, whole.blocks(), root);
      group.store(whole);
    });
  }
  if (in_place) all.load(root);
  Row own(call, out.data());
  own.load();
  mpi::gatherv(call.process(), *found, call.name(), in_place ? nullptr : own.at(), out.bytes,
               all.blocks(), root);
  all.store();
  return MPI_SUCCESS;
}

int gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gatherv_as(Call("MPI_Gatherv"), Form(), sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                    displs, recvtype, root, comm);
}

int scatterv_as(const Call& call, const Form& form, const void* sendbuf, Counts sendcounts,
                Counts displs, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    return scatter_between(call, form, *found,
                           {sendbuf, sendcounts, displs, nullptr, sendtype, "send"},
                           {recvbuf, recvcount, recvtype, "recv"}, root);
  }
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
  const int members = at_root ? found->size : 0;
  RowBlocks all(call, out, members);
  if (at_root) {
    const std::uint64_t own = all.blocks().bytes(root);
    if (const int error = check_same(call, found, own, in_place ? own : in.bytes)) return error;
    if (const int error = check_place_apart(call, found, in, all.blocks().at(root))) return error;
  }
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      RowBlocks& whole = group.keep<RowBlocks>(call, out, members);
      Row& own = group.keep<Row>(call, in.data());
      group.load(whole);
      record_scatterv(group, whole.blocks(), in_place ? nullptr : own.at(), in.bytes, root);
      group.store(own);
    });
  }
  all.load();
  Row own(call, in.data());
  mpi::scatterv(call.process(), *found, call.name(), all.blocks(), in_place ? nullptr : own.at(),
                in.bytes, root);
  own.store();
  return MPI_SUCCESS;
}

int scatterv(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatterv_as(Call("MPI_Scatterv"), Form(), sendbuf, sendcounts, displs, sendtype, recvbuf,
                     recvcount, recvtype, root, comm);
}

int allgatherv_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (found->both != nullptr) [[unlikely]] {
    return allgather_between(call, form, *found, {sendbuf, sendcount, sendtype, "send"},
                             {recvbuf, recvcounts, displs, nullptr, recvtype, "recv"});
  }
  const Arrays in{recvbuf, recvcounts, displs, nullptr, recvtype, "recv"};
  if (const int error = check_arrays(call, found, in)) return error;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  RowBlocks received(call, in, found->size);
  const Blocks all = received.blocks();
  Buffer out;
  if (!in_place) {
    out = buffer_of(call, found, sendbuf, sendcount, sendtype, "send");
    if (out.error != MPI_SUCCESS) return out.error;
    if (const int error = check_same(call, found, out.bytes, all.bytes(found->rank))) return error;
    if (const int error = check_place_apart(call, found, out, all.at(found->rank))) return error;
  }
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      RowBlocks& whole = group.keep<RowBlocks>(call, in, found->size);
      Row& own = group.keep<Row>(call, out.data());
      const Blocks blocks = whole.blocks();
      if (in_place) {
        group.load(whole, found->rank);
      } else {
        group.load(own);
        group.copy(blocks.at(found->rank), own.at(), out.bytes);
      }
      record_allgatherv(group, blocks);
      group.store(whole);
    });
  }
  if (in_place) received.load(found->rank);
  if (out.bytes != 0) pack(out.data(), all.at(found->rank));
  mpi::allgatherv(call.process(), *found, call.name(), all);
  received.store();
  return MPI_SUCCESS;
}

int allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv_as(Call("MPI_Allgatherv"), Form(), sendbuf, sendcount, sendtype, recvbuf,
                       recvcounts, displs, recvtype, comm);
}

int alltoallv_as(const Call& call, const Form& form, const void* sendbuf, Counts sendcounts,
                 Counts sdispls, MPI_Datatype sendtype, void* recvbuf, Counts recvcounts,
                 Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  return all_to_all(call, form, *found, CollectiveKind::alltoallv,
                    {sendbuf, sendcounts, sdispls, nullptr, sendtype, "send"},
                    {recvbuf, recvcounts, rdispls, nullptr, recvtype, "recv"});
}

int alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
              void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
              MPI_Comm comm) {
  return alltoallv_as(Call("MPI_Alltoallv"), Form(), sendbuf, sendcounts, sdispls, sendtype,
                      recvbuf, recvcounts, rdispls, recvtype, comm);
}

int alltoallw_as(const Call& call, const Form& form, const void* sendbuf, Counts sendcounts,
                 Counts sdispls, const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                 Counts rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (recvtypes == nullptr || (sendtypes == nullptr && sendbuf != MPI_IN_PLACE)) {
    return call.fail(found, MPI_ERR_ARG, "sendtypes or recvtypes is a null pointer");
  }
  return all_to_all(call, form, *found, CollectiveKind::alltoallw,
                    {sendbuf, sendcounts, sdispls, sendtypes, MPI_DATATYPE_NULL, "send"},
                    {recvbuf, recvcounts, rdispls, recvtypes, MPI_DATATYPE_NULL, "recv"});
}

int alltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls,
              const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
              const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoallw_as(Call("MPI_Alltoallw"), Form(), sendbuf, sendcounts, sdispls, sendtypes,
                      recvbuf, recvcounts, rdispls, recvtypes, comm);
}

}  // namespace fairlead::mpi::api
