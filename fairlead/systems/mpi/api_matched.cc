// Matched probes and the receives that go with them.
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/message_arguments.h"

namespace fairlead::mpi::api {
namespace {

void fill(const Comm& comm, const Unexpected& message, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = comm.rank_of(message.envelope.peer);
  status->MPI_TAG = message.envelope.tag;
  set_bytes(*status, message.size);
}

// Takes a message as `flag` says: nullptr waits for it.
int probe(const Call& call, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
          MPI_Status* status) {
  Side side;
  const bool comes = describe_receive(call, side, nullptr, 0, MPI_BYTE, source, tag, comm);
  if (!comes && side.error != MPI_SUCCESS) return side.error;
  if (const int error = call.check_output(side.comm, message, "message")) return error;
  if (!comes) {
    *message = MPI_MESSAGE_NO_PROC;
    if (flag != nullptr) *flag = 1;
    set_empty(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  Engine& engine = call.engine();
  if (flag != nullptr) engine.poll();
  Unexpected* found = engine.take(side.envelope);
  while (flag == nullptr && found == nullptr) {
    engine.wait_for_change(call.name(), {nullptr, side.comm, &side.envelope});
    found = engine.take(side.envelope);
  }
  engine.wait_is_over();
  if (flag != nullptr) *flag = found != nullptr;
  *message = MPI_MESSAGE_NULL;
  if (found == nullptr) return MPI_SUCCESS;
  Matched* const made = call.process().extras().matched.make();
  made->message = found;
  made->comm = side.comm;
  ++side.comm->uses;
  *message = reinterpret_cast<MPI_Message>(made);
  fill(*side.comm, *found, status);
  return MPI_SUCCESS;
}

// Begins to receive `*message`; nullptr: an error was raised, or nobody sent it.
Request* receive(const Call& call, void* buf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Message* message, int* error) {
  *error = call.check_output(nullptr, message, "message");
  if (*error != MPI_SUCCESS) return nullptr;
  Matched* const found = Objects<Matched>::find(*message);
  Comm* const comm = found != nullptr ? found->comm : nullptr;
  *error = call.check_data(comm, buf, count, datatype, "");
  if (*error != MPI_SUCCESS) return nullptr;
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    return nullptr;
  }
  if (found == nullptr) {
    *error = call.fail(nullptr, MPI_ERR_REQUEST, "message is none, or was received");
    return nullptr;
  }
  // The matched message's use of the communicator is the request's from here on.
  const Data to = data_of(*find_body(datatype), buf, static_cast<std::uint64_t>(count));
  Request* const request = call.engine().receive_early(found->message, const_cast<void*>(to.at),
                                                       to.size, comm, to.layout);
  call.process().extras().matched.free(found);
  *message = MPI_MESSAGE_NULL;
  return request;
}

}  // namespace

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return probe(Call("MPI_Mprobe"), source, tag, comm, nullptr, message, status);
}

int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) {
  const Call call("MPI_Improbe");
  if (const int error = call.check_output(nullptr, flag, "flag")) return error;
  return probe(call, source, tag, comm, flag, message, status);
}

int mrecv(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
          MPI_Status* status) {
  const Call call("MPI_Mrecv");
  int error = MPI_SUCCESS;
  Request* const request = receive(call, buf, count, datatype, message, &error);
  if (error != MPI_SUCCESS) return error;
  if (request == nullptr) {
    set_empty(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  call.engine().wait(*request, call.name());
  return end_receive(call, request, status);
}

int imrecv(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
           MPI_Request* request) {
  const Call call("MPI_Imrecv");
  if (const int error = call.check_output(nullptr, request, "request")) return error;
  int error = MPI_SUCCESS;
  Request* const made = receive(call, buf, count, datatype, message, &error);
  if (error != MPI_SUCCESS) return error;
  *request = reinterpret_cast<MPI_Request>(made != nullptr ? made : &call.process().done_receive());
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
