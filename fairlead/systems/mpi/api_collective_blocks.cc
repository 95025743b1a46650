// The collective calls with a count a rank: arguments checked, then collectives/blocks.cc.
#include <cstring>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collective_forms.h"

namespace fairlead::mpi::api {
namespace {

// The arrays of one side of a call.
struct Arrays {
  const void* buffer;
  Counts counts;
  Counts displacements;
  const MPI_Datatype* types;  // one a rank, or
  MPI_Datatype type;          // of all
  const char* which;

  Blocks blocks() const {
    return types != nullptr ? Blocks(buffer, counts, displacements, types)
                            : Blocks(buffer, counts, displacements, type);
  }
};

// MPI_SUCCESS or an error raised.
int check(const Call& call, const Comm* comm, const Arrays& of) {
  if (of.counts.is_null() || of.displacements.is_null()) {
    return call.fail(comm, MPI_ERR_ARG,
                     fmt::format("{}counts or {}displs is a null pointer", of.which, of.which));
  }
  for (int i = 0; i < comm->size; ++i) {
    const MPI_Datatype type = of.types != nullptr ? of.types[i] : of.type;
    // Blocks may lie at addresses: a null pointer is one.
    const void* const buffer = of.buffer == MPI_IN_PLACE ? MPI_IN_PLACE : &of;
    if (of.counts[i] < 0 || size_of_type(type) == 0 || buffer == MPI_IN_PLACE) {
      return call.check_data(comm, buffer, of.counts[i], type, of.which);
    }
  }
  return MPI_SUCCESS;
}

int all_to_all(const Call& call, const Form& form, Comm& comm, CollectiveKind kind,
               const Arrays& out, const Arrays& in) {
  if (const int error = check(call, &comm, in)) return error;
  const Blocks to = in.blocks();
  if (out.buffer == MPI_IN_PLACE) {
    if (!form.at_once()) {
      return make_schedule(call, comm, form,
                           [&](Recorder& group) { record_alltoallv(group, nullptr, to); });
    }
    alltoallv(call.process(), comm, kind, call.name(), nullptr, to);
    return MPI_SUCCESS;
  }
  if (const int error = check(call, &comm, out)) return error;
  const Blocks from = out.blocks();
  if (const int error = check_same(call, &comm, from.bytes(comm.rank), to.bytes(comm.rank))) {
    return error;
  }
  if (!form.at_once()) {
    return make_schedule(call, comm, form,
                         [&](Recorder& group) { record_alltoallv(group, &from, to); });
  }
  alltoallv(call.process(), comm, kind, call.name(), &from, to);
  return MPI_SUCCESS;
}

}  // namespace

int gatherv_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
               MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
               MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && sendbuf == MPI_IN_PLACE;
  const Arrays in{recvbuf, recvcounts, displs, nullptr, recvtype, "recv"};
  Extent out;
  if (!in_place) out = extent(call, found, sendbuf, sendcount, sendtype, "send");
  if (out.error != MPI_SUCCESS) return out.error;
  if (at_root) {
    if (const int error = check(call, found, in)) return error;
    const std::uint64_t own = in.blocks().bytes(root);
    if (const int error = check_same(call, found, in_place ? own : out.bytes, own)) return error;
  }
  const void* const own = in_place ? nullptr : sendbuf;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      record_gatherv(group, own, out.bytes, in.blocks(), root);
    });
  }
  mpi::gatherv(call.process(), *found, call.name(), own, out.bytes, in.blocks(), root);
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
  if (const int error = call.check_root(found, root)) return error;
  const bool at_root = found->rank == root;
  const bool in_place = at_root && recvbuf == MPI_IN_PLACE;
  const Arrays out{sendbuf, sendcounts, displs, nullptr, sendtype, "send"};
  Extent in;
  if (!in_place) in = extent(call, found, recvbuf, recvcount, recvtype, "recv");
  if (in.error != MPI_SUCCESS) return in.error;
  if (at_root) {
    if (const int error = check(call, found, out)) return error;
    const std::uint64_t own = out.blocks().bytes(root);
    if (const int error = check_same(call, found, own, in_place ? own : in.bytes)) return error;
  }
  void* const own = in_place ? nullptr : recvbuf;
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      record_scatterv(group, out.blocks(), own, in.bytes, root);
    });
  }
  mpi::scatterv(call.process(), *found, call.name(), out.blocks(), own, in.bytes, root);
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
  const Arrays in{recvbuf, recvcounts, displs, nullptr, recvtype, "recv"};
  if (const int error = check(call, found, in)) return error;
  const Blocks all = in.blocks();
  if (sendbuf != MPI_IN_PLACE) {
    const Extent out = extent(call, found, sendbuf, sendcount, sendtype, "send");
    if (out.error != MPI_SUCCESS) return out.error;
    if (const int error = check_same(call, found, out.bytes, all.bytes(found->rank))) return error;
  }
  const std::uint64_t own = sendbuf == MPI_IN_PLACE ? 0 : all.bytes(found->rank);
  if (!form.at_once()) {
    return make_schedule(call, *found, form, [&](Recorder& group) {
      group.copy(all.at(found->rank), sendbuf, own);
      record_allgatherv(group, all);
    });
  }
  if (own != 0) std::memmove(all.at(found->rank), sendbuf, own);
  mpi::allgatherv(call.process(), *found, call.name(), all);
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
