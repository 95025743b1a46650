// Neighborhood collectives: arguments checked, then messages straight to the neighbors.
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_arguments.h"
#include "fairlead/systems/mpi/collectives/exchange.h"
#include "fairlead/systems/mpi/neighbour_collectives.h"
#include "fairlead/systems/mpi/neighbours.h"
#include "fairlead/systems/mpi/same_blocks.h"

namespace fairlead::mpi::api {
namespace {

// The communicator, or an error raised.
Comm* find(const Call& call, MPI_Comm handle, int* error) {
  Comm* const comm = call.process().find(handle);
  *error = MPI_SUCCESS;
  if (comm == nullptr) {
    *error = call.check_comm(handle);
    return nullptr;
  }
  if (has_topology(*comm)) return comm;
  *error = call.fail(comm, MPI_ERR_TOPOLOGY, "comm has no topology, and so no neighbors");
  return nullptr;
}

int count_of(const std::vector<int>& neighbors) { return static_cast<int>(neighbors.size()); }

std::vector<Leg> receives_of(const Neighbours& with, const Blocks& blocks) {
  std::vector<Leg> legs;
  for (int i = 0; i < count_of(with.sources); ++i) {
    const int from = with.sources[static_cast<std::size_t>(i)];
    if (from != MPI_PROC_NULL) legs.push_back({from, blocks.at(i), blocks.bytes(i)});
  }
  return legs;
}

// `of(i)`: the leg to neighbor i but for its member.
template <class Of>
std::vector<Leg> sends_of(const Neighbours& with, Of&& of) {
  std::vector<Leg> legs;
  for (const int i : with.order) {
    const int to = with.destinations[static_cast<std::size_t>(i)];
    if (to == MPI_PROC_NULL) continue;
    Leg leg = of(i);
    leg.member = to;
    legs.push_back(leg);
  }
  return legs;
}

// The blocks of neighbors there are; those beyond the edge of a grid are not touched.
void store(Recorder& group, const Neighbours& with, RowBlocks& blocks) {
  if (!blocks.is_copy()) return;
  group.call([&blocks, sources = with.sources] {
    for (int i = 0; i < count_of(sources); ++i) {
      if (sources[static_cast<std::size_t>(i)] != MPI_PROC_NULL) blocks.store(i);
    }
  });
}

int gather_all(const Call& call, const Form& form, Comm& comm, const Neighbours& with,
               const Buffer& out, const Arrays& in) {
  if (out.error != MPI_SUCCESS) return out.error;
  const int sources = count_of(with.sources);
  if (const int error = check_arrays(call, &comm, in, sources)) return error;
  return make_schedule(call, comm, form, [&](Recorder& group) {
    Row& own = group.keep<Row>(call, out.data());
    RowBlocks& blocks = group.keep<RowBlocks>(call, in, sources);
    group.load(own);
    record_exchange(group, receives_of(with, blocks.blocks()), sends_of(with, [&](int) {
                      return Leg{0, own.at(), out.bytes};
                    }));
    store(group, with, blocks);
  });
}

int all_to_all(const Call& call, const Form& form, Comm& comm, const Neighbours& with,
               const Arrays& out, const Arrays& in) {
  const int sources = count_of(with.sources);
  const int destinations = count_of(with.destinations);
  if (const int error = check_arrays(call, &comm, out, destinations)) return error;
  if (const int error = check_arrays(call, &comm, in, sources)) return error;
  return make_schedule(call, comm, form, [&](Recorder& group) {
    RowBlocks& from = group.keep<RowBlocks>(call, out, destinations);
    RowBlocks& to = group.keep<RowBlocks>(call, in, sources);
    group.load(from);
    const Blocks blocks = from.blocks();
    record_exchange(group, receives_of(with, to.blocks()), sends_of(with, [&](int i) {
                      return Leg{0, blocks.at(i), blocks.bytes(i)};
                    }));
    store(group, with, to);
  });
}

}  // namespace

int neighbor_allgather_as(const Call& call, const Form& form, const void* sendbuf,
                          MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int error = MPI_SUCCESS;
  Comm* const found = find(call, comm, &error);
  if (found == nullptr) return error;
  const Neighbours with = neighbours_of(*found);
  const SameBlocks in(recvbuf, recvcount, recvtype, "recv", count_of(with.sources));
  const Buffer checked = buffer_of(call, found, recvbuf, recvcount, recvtype, "recv");
  if (checked.error != MPI_SUCCESS) return checked.error;
  return gather_all(call, form, *found, with,
                    buffer_of(call, found, sendbuf, sendcount, sendtype, "send"), in.arrays());
}

int neighbor_allgatherv_as(const Call& call, const Form& form, const void* sendbuf,
                           MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm) {
  int error = MPI_SUCCESS;
  Comm* const found = find(call, comm, &error);
  if (found == nullptr) return error;
  return gather_all(call, form, *found, neighbours_of(*found),
                    buffer_of(call, found, sendbuf, sendcount, sendtype, "send"),
                    {recvbuf, recvcounts, displs, nullptr, recvtype, "recv"});
}

int neighbor_alltoall_as(const Call& call, const Form& form, const void* sendbuf,
                         MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int error = MPI_SUCCESS;
  Comm* const found = find(call, comm, &error);
  if (found == nullptr) return error;
  const Neighbours with = neighbours_of(*found);
  for (const Buffer& each : {buffer_of(call, found, sendbuf, sendcount, sendtype, "send"),
                             buffer_of(call, found, recvbuf, recvcount, recvtype, "recv")}) {
    if (each.error != MPI_SUCCESS) return each.error;
  }
  const SameBlocks out(sendbuf, sendcount, sendtype, "send", count_of(with.destinations));
  const SameBlocks in(recvbuf, recvcount, recvtype, "recv", count_of(with.sources));
  return all_to_all(call, form, *found, with, out.arrays(), in.arrays());
}

int neighbor_alltoallv_as(const Call& call, const Form& form, const void* sendbuf,
                          Counts sendcounts, Counts sdispls, MPI_Datatype sendtype, void* recvbuf,
                          Counts recvcounts, Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  int error = MPI_SUCCESS;
  Comm* const found = find(call, comm, &error);
  if (found == nullptr) return error;
  return all_to_all(call, form, *found, neighbours_of(*found),
                    {sendbuf, sendcounts, sdispls, nullptr, sendtype, "send"},
                    {recvbuf, recvcounts, rdispls, nullptr, recvtype, "recv"});
}

int neighbor_alltoallw_as(const Call& call, const Form& form, const void* sendbuf,
                          Counts sendcounts, const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as counts");
  int error = MPI_SUCCESS;
  Comm* const found = find(call, comm, &error);
  if (found == nullptr) return error;
  const Neighbours with = neighbours_of(*found);
  if ((sendtypes == nullptr && !with.destinations.empty()) ||
      (recvtypes == nullptr && !with.sources.empty())) {
    return call.fail(found, MPI_ERR_ARG, "sendtypes or recvtypes is a null pointer");
  }
  return all_to_all(call, form, *found, with,
                    {sendbuf, sendcounts, Counts(sdispls), sendtypes, MPI_DATATYPE_NULL, "send"},
                    {recvbuf, recvcounts, Counts(rdispls), recvtypes, MPI_DATATYPE_NULL, "recv"});
}

}  // namespace fairlead::mpi::api
