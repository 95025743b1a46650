// Neighborhood collectives: one text of the arguments for the three forms of each call. `comm` has
// a topology, or the call returns MPI_ERR_TOPOLOGY. Arrays have an element for each neighbor.
#pragma once
#include "fairlead/systems/mpi/collective_forms.h"

namespace fairlead::mpi::api {

int neighbor_allgather_as(const Call& call, const Form& form, const void* sendbuf,
                          MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_allgatherv_as(const Call& call, const Form& form, const void* sendbuf,
                           MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_alltoall_as(const Call& call, const Form& form, const void* sendbuf,
                         MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_alltoallv_as(const Call& call, const Form& form, const void* sendbuf,
                          Counts sendcounts, Counts sdispls, MPI_Datatype sendtype, void* recvbuf,
                          Counts recvcounts, Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm);
int neighbor_alltoallw_as(const Call& call, const Form& form, const void* sendbuf,
                          Counts sendcounts, const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

}  // namespace fairlead::mpi::api
