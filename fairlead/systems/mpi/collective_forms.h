// One text of a collective call's arguments for its three forms: at once (MPI_Bcast), begun
// (MPI_Ibcast), and persistent (MPI_Bcast_init).
#pragma once
#include <memory>

#include "fairlead/systems/mpi/arguments.h"
#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/collectives/schedule.h"

namespace fairlead::mpi {

struct Form {
  enum class Kind : std::uint8_t { at_once, begun, persistent };
  Kind kind = Kind::at_once;
  MPI_Request* request = nullptr;  // where the handle goes of what is not done at once

  bool at_once() const { return kind == Kind::at_once; }
};

// Makes the schedule that `record` writes down; ends it if the call is at once, else begins it
// unless it is persistent. Returns an MPI error class, raised.
template <class Record>
[[gnu::cold, gnu::noinline]] int make_schedule(const Call& call, Comm& comm, const Form& form,
                                               Record&& record) {
  const std::uint32_t context = (comm.context + 1) | kScheduleContext;
  if (form.at_once()) {
    Schedule all(call.process(), comm, RequestKind::task, context, schedule_tag(comm), call.name());
    Recorder steps(all);
    record(steps);
    all.begin();
    call.engine().wait(all.request(), call.name());
    return MPI_SUCCESS;
  }
  if (const int error = call.check_output(&comm, form.request, "request")) return error;
  const RequestKind kind =
      form.kind == Form::Kind::persistent ? RequestKind::persistent : RequestKind::task;
  auto made = std::make_unique<Schedule>(call.process(), comm, kind, context, schedule_tag(comm),
                                         call.name());
  Recorder recorder(*made);
  record(recorder);
  made->begin();
  if (kind == RequestKind::task && !made->request().done()) call.process().let_go_on(*made);
  *form.request = made.release()->handle();  // the request's, from here on
  return MPI_SUCCESS;
}

namespace api {

// What the calls of all forms do; arguments are those of the call that is at once.
int barrier_as(const Call& call, const Form& form, MPI_Comm comm);
int bcast_as(const Call& call, const Form& form, void* buffer, MPI_Count count,
             MPI_Datatype datatype, int root, MPI_Comm comm);
int reduce_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int allreduce_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                 MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int gather_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
              MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
              int root, MPI_Comm comm);
int scatter_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
               MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
               int root, MPI_Comm comm);
int allgather_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                 MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                 MPI_Comm comm);
int alltoall_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                MPI_Comm comm);
int gatherv_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
               MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
               MPI_Datatype recvtype, int root, MPI_Comm comm);
int scatterv_as(const Call& call, const Form& form, const void* sendbuf, Counts sendcounts,
                Counts displs, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm);
int allgatherv_as(const Call& call, const Form& form, const void* sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
                  MPI_Datatype recvtype, MPI_Comm comm);
int alltoallv_as(const Call& call, const Form& form, const void* sendbuf, Counts sendcounts,
                 Counts sdispls, MPI_Datatype sendtype, void* recvbuf, Counts recvcounts,
                 Counts rdispls, MPI_Datatype recvtype, MPI_Comm comm);
int alltoallw_as(const Call& call, const Form& form, const void* sendbuf, Counts sendcounts,
                 Counts sdispls, const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                 Counts rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm);
int scan_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int exscan_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
              MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int reduce_scatter_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                      Counts recvcounts, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int reduce_scatter_block_as(const Call& call, const Form& form, const void* sendbuf, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

}  // namespace api
}  // namespace fairlead::mpi
