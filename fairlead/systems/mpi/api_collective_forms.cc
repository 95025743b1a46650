// Nonblocking and persistent collectives.
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/collective_forms.h"

namespace fairlead::mpi::api {

int ibarrier(MPI_Comm comm, MPI_Request* request) {
  return barrier_as(Call("MPI_Ibarrier"), {Form::Kind::begun, request}, comm);
}
int barrier_init(MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return barrier_as(Call("MPI_Barrier_init"), {Form::Kind::persistent, request}, comm);
}

int ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
           MPI_Request* request) {
  return bcast_as(Call("MPI_Ibcast"), {Form::Kind::begun, request}, buffer, count, datatype, root,
                  comm);
}
int bcast_init(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
               MPI_Info, MPI_Request* request) {
  return bcast_as(Call("MPI_Bcast_init"), {Form::Kind::persistent, request}, buffer, count,
                  datatype, root, comm);
}

int ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
            int root, MPI_Comm comm, MPI_Request* request) {
  return reduce_as(Call("MPI_Ireduce"), {Form::Kind::begun, request}, sendbuf, recvbuf, count,
                   datatype, op, root, comm);
}
int reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, int root, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return reduce_as(Call("MPI_Reduce_init"), {Form::Kind::persistent, request}, sendbuf, recvbuf,
                   count, datatype, op, root, comm);
}

int iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
               MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return allreduce_as(Call("MPI_Iallreduce"), {Form::Kind::begun, request}, sendbuf, recvbuf, count,
                      datatype, op, comm);
}
int allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return allreduce_as(Call("MPI_Allreduce_init"), {Form::Kind::persistent, request}, sendbuf,
                      recvbuf, count, datatype, op, comm);
}

int igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Request* request) {
  return gather_as(Call("MPI_Igather"), {Form::Kind::begun, request}, sendbuf, sendcount, sendtype,
                   recvbuf, recvcount, recvtype, root, comm);
}
int gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info,
                MPI_Request* request) {
  return gather_as(Call("MPI_Gather_init"), {Form::Kind::persistent, request}, sendbuf, sendcount,
                   sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request) {
  return scatter_as(Call("MPI_Iscatter"), {Form::Kind::begun, request}, sendbuf, sendcount,
                    sendtype, recvbuf, recvcount, recvtype, root, comm);
}
int scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info,
                 MPI_Request* request) {
  return scatter_as(Call("MPI_Scatter_init"), {Form::Kind::persistent, request}, sendbuf, sendcount,
                    sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return allgather_as(Call("MPI_Iallgather"), {Form::Kind::begun, request}, sendbuf, sendcount,
                      sendtype, recvbuf, recvcount, recvtype, comm);
}
int allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info,
                   MPI_Request* request) {
  return allgather_as(Call("MPI_Allgather_init"), {Form::Kind::persistent, request}, sendbuf,
                      sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return alltoall_as(Call("MPI_Ialltoall"), {Form::Kind::begun, request}, sendbuf, sendcount,
                     sendtype, recvbuf, recvcount, recvtype, comm);
}
int alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info,
                  MPI_Request* request) {
  return alltoall_as(Call("MPI_Alltoall_init"), {Form::Kind::persistent, request}, sendbuf,
                     sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request) {
  return gatherv_as(Call("MPI_Igatherv"), {Form::Kind::begun, request}, sendbuf, sendcount,
                    sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}
int gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Info, MPI_Request* request) {
  return gatherv_as(Call("MPI_Gatherv_init"), {Form::Kind::persistent, request}, sendbuf, sendcount,
                    sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

int iscatterv(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
              MPI_Request* request) {
  return scatterv_as(Call("MPI_Iscatterv"), {Form::Kind::begun, request}, sendbuf, sendcounts,
                     displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
int scatterv_init(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return scatterv_as(Call("MPI_Scatterv_init"), {Form::Kind::persistent, request}, sendbuf,
                     sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm,
                MPI_Request* request) {
  return allgatherv_as(Call("MPI_Iallgatherv"), {Form::Kind::begun, request}, sendbuf, sendcount,
                       sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}
int allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    Counts recvcounts, Counts displs, MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Info, MPI_Request* request) {
  return allgatherv_as(Call("MPI_Allgatherv_init"), {Form::Kind::persistent, request}, sendbuf,
                       sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

int ialltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
               void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
               MPI_Comm comm, MPI_Request* request) {
  return alltoallv_as(Call("MPI_Ialltoallv"), {Form::Kind::begun, request}, sendbuf, sendcounts,
                      sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}
int alltoallv_init(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
                   void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return alltoallv_as(Call("MPI_Alltoallv_init"), {Form::Kind::persistent, request}, sendbuf,
                      sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int ialltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls,
               const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
               const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return alltoallw_as(Call("MPI_Ialltoallw"), {Form::Kind::begun, request}, sendbuf, sendcounts,
                      sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}
int alltoallw_init(const void* sendbuf, Counts sendcounts, Counts sdispls,
                   const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
                   const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return alltoallw_as(Call("MPI_Alltoallw_init"), {Form::Kind::persistent, request}, sendbuf,
                      sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                      comm);
}

int iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Request* request) {
  return scan_as(Call("MPI_Iscan"), {Form::Kind::begun, request}, sendbuf, recvbuf, count, datatype,
                 op, comm);
}
int scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return scan_as(Call("MPI_Scan_init"), {Form::Kind::persistent, request}, sendbuf, recvbuf, count,
                 datatype, op, comm);
}

int iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
            MPI_Comm comm, MPI_Request* request) {
  return exscan_as(Call("MPI_Iexscan"), {Form::Kind::begun, request}, sendbuf, recvbuf, count,
                   datatype, op, comm);
}
int exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return exscan_as(Call("MPI_Exscan_init"), {Form::Kind::persistent, request}, sendbuf, recvbuf,
                   count, datatype, op, comm);
}

int ireduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return reduce_scatter_as(Call("MPI_Ireduce_scatter"), {Form::Kind::begun, request}, sendbuf,
                           recvbuf, recvcounts, datatype, op, comm);
}
int reduce_scatter_init(const void* sendbuf, void* recvbuf, Counts recvcounts,
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                        MPI_Request* request) {
  return reduce_scatter_as(Call("MPI_Reduce_scatter_init"), {Form::Kind::persistent, request},
                           sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return reduce_scatter_block_as(Call("MPI_Ireduce_scatter_block"), {Form::Kind::begun, request},
                                 sendbuf, recvbuf, recvcount, datatype, op, comm);
}
int reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                              MPI_Request* request) {
  return reduce_scatter_block_as(Call("MPI_Reduce_scatter_block_init"),
                                 {Form::Kind::persistent, request}, sendbuf, recvbuf, recvcount,
                                 datatype, op, comm);
}

}  // namespace fairlead::mpi::api
