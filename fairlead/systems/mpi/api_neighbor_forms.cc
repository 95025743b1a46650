// The three forms of the neighborhood collectives.
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/neighbour_collectives.h"

namespace fairlead::mpi::api {

int neighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_allgather_as(Call("MPI_Neighbor_allgather"), Form(), sendbuf, sendcount, sendtype,
                               recvbuf, recvcount, recvtype, comm);
}
int ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Request* request) {
  return neighbor_allgather_as(Call("MPI_Ineighbor_allgather"), {Form::Kind::begun, request},
                               sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
int neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return neighbor_allgather_as(Call("MPI_Neighbor_allgather_init"),
                               {Form::Kind::persistent, request}, sendbuf, sendcount, sendtype,
                               recvbuf, recvcount, recvtype, comm);
}

int neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                        MPI_Comm comm) {
  return neighbor_allgatherv_as(Call("MPI_Neighbor_allgatherv"), Form(), sendbuf, sendcount,
                                sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}
int ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Request* request) {
  return neighbor_allgatherv_as(Call("MPI_Ineighbor_allgatherv"), {Form::Kind::begun, request},
                                sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                comm);
}
int neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return neighbor_allgatherv_as(Call("MPI_Neighbor_allgatherv_init"),
                                {Form::Kind::persistent, request}, sendbuf, sendcount, sendtype,
                                recvbuf, recvcounts, displs, recvtype, comm);
}

int neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_alltoall_as(Call("MPI_Neighbor_alltoall"), Form(), sendbuf, sendcount, sendtype,
                              recvbuf, recvcount, recvtype, comm);
}
int ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Request* request) {
  return neighbor_alltoall_as(Call("MPI_Ineighbor_alltoall"), {Form::Kind::begun, request}, sendbuf,
                              sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
int neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Info, MPI_Request* request) {
  return neighbor_alltoall_as(Call("MPI_Neighbor_alltoall_init"), {Form::Kind::persistent, request},
                              sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int neighbor_alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls,
                       MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                       MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_alltoallv_as(Call("MPI_Neighbor_alltoallv"), Form(), sendbuf, sendcounts, sdispls,
                               sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}
int ineighbor_alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls,
                        MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return neighbor_alltoallv_as(Call("MPI_Ineighbor_alltoallv"), {Form::Kind::begun, request},
                               sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                               recvtype, comm);
}
int neighbor_alltoallv_init(const void* sendbuf, Counts sendcounts, Counts sdispls,
                            MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return neighbor_alltoallv_as(Call("MPI_Neighbor_alltoallv_init"),
                               {Form::Kind::persistent, request}, sendbuf, sendcounts, sdispls,
                               sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int neighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return neighbor_alltoallw_as(Call("MPI_Neighbor_alltoallw"), Form(), sendbuf, sendcounts, sdispls,
                               sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}
int ineighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Request* request) {
  return neighbor_alltoallw_as(Call("MPI_Ineighbor_alltoallw"), {Form::Kind::begun, request},
                               sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                               rdispls, recvtypes, comm);
}
int neighbor_alltoallw_init(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Info, MPI_Request* request) {
  return neighbor_alltoallw_as(Call("MPI_Neighbor_alltoallw_init"),
                               {Form::Kind::persistent, request}, sendbuf, sendcounts, sdispls,
                               sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

}  // namespace fairlead::mpi::api
