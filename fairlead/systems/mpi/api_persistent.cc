// Persistent requests of messages, and the calls that start, cancel and free requests.
#include <utility>

#include "fairlead/systems/mpi/api_requests.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/message_arguments.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi::api {
namespace {

enum class Mode : std::uint8_t { standard, synchronous, buffered, receive };

// Its request is that of each message in turn, so that waiting for it is waiting for a message.
class PersistentMessage final : public Task {
 public:
  PersistentMessage(Process& process, Mode mode, const Side& side)
      : Task(process, RequestKind::persistent),
        mode_(mode),
        side_(side),
        layout_(side.data.layout) {
    use(*side.comm);
  }

  int start(const Call& call) override {
    Engine& engine = call.engine();
    const Data& data = side_.data;
    if (side_.nobody) {
      request().state = State::done;
      return MPI_SUCCESS;
    }
    switch (mode_) {
      case Mode::receive:
        // A receive's buffer is one that may be written.
        engine.irecv_by(request(), const_cast<void*>(data.at), data.size, side_.envelope,
                        side_.comm, data.layout);
        return MPI_SUCCESS;
      case Mode::buffered:
        if (const int error = send_buffered(call, side_)) return error;
        request().state = State::done;
        return MPI_SUCCESS;
      default:
        if (mode_ == Mode::standard && data.layout == nullptr &&
            engine.send_shortly(data.at, data.size, side_.envelope)) [[likely]] {
          request().error = MPI_SUCCESS;
          request().state = State::done;
          return MPI_SUCCESS;
        }
        engine.isend_by(request(), data.at, data.size, side_.envelope, mode_ == Mode::synchronous,
                        data.layout);
        return MPI_SUCCESS;
    }
  }

  int tell(const Call&, MPI_Status& status) override {
    if (side_.nobody) set_empty(&status, mode_ == Mode::receive ? MPI_PROC_NULL : MPI_ANY_SOURCE);
    return request().error;
  }

  // Sends go on.
  int cancel(const Call& call) override {
    (void)call.engine().cancel(request());
    return MPI_SUCCESS;
  }

 private:
  const Mode mode_;
  const Side side_;
  const LayoutHold layout_;
};

int make_persistent(const Call& call, Mode mode, const void* buf, MPI_Count count,
                    MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  Side side{};
  const bool goes = mode == Mode::receive
                        ? describe_receive(call, side, buf, count, datatype, peer, tag, comm)
                        : describe_send(call, side, buf, count, datatype, peer, tag, comm);
  if (!goes && side.error != MPI_SUCCESS) return side.error;
  if (const int error = call.check_output(side.comm, request, "request")) return error;
  *request = (new PersistentMessage(call.process(), mode, side))->handle();
  return MPI_SUCCESS;
}

// nullptr: the handle is of no persistent request that may be started; an error was raised.
Task* startable(const Call& call, MPI_Request handle, int* error) {
  auto* const request = reinterpret_cast<Request*>(handle);
  if (handle != MPI_REQUEST_NULL && is_request(handle) &&
      request->kind == RequestKind::persistent && request->state == State::inactive) {
    return request->task;
  }
  *error = call.fail(nullptr, MPI_ERR_REQUEST,
                     "the request is not persistent, or is started and was not waited for");
  return nullptr;
}

}  // namespace

int send_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm, MPI_Request* request) {
  return make_persistent(Call("MPI_Send_init"), Mode::standard, buf, count, datatype, dest, tag,
                         comm, request);
}

int ssend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request* request) {
  return make_persistent(Call("MPI_Ssend_init"), Mode::synchronous, buf, count, datatype, dest, tag,
                         comm, request);
}

// A ready send may be a standard one.
int rsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request* request) {
  return make_persistent(Call("MPI_Rsend_init"), Mode::standard, buf, count, datatype, dest, tag,
                         comm, request);
}

int bsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request* request) {
  return make_persistent(Call("MPI_Bsend_init"), Mode::buffered, buf, count, datatype, dest, tag,
                         comm, request);
}

int recv_init(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return make_persistent(Call("MPI_Recv_init"), Mode::receive, buf, count, datatype, source, tag,
                         comm, request);
}

int start(MPI_Request* request) {
  const Call call("MPI_Start");
  if (const int error = call.check_output(nullptr, request, "request")) return error;
  int error = MPI_SUCCESS;
  Task* const task = startable(call, *request, &error);
  return task == nullptr ? error : task->start(call);
}

int startall(int count, MPI_Request array_of_requests[]) {
  const Call call("MPI_Startall");
  if (const int error = check_requests(call, count, array_of_requests)) return error;
  for (int i = 0; i < count; ++i) {
    int error = MPI_SUCCESS;
    Task* const task = startable(call, array_of_requests[i], &error);
    if (task != nullptr) error = task->start(call);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int cancel(MPI_Request* request) {
  const Call call("MPI_Cancel");
  if (const int error = check_requests(call, 1, request)) return error;
  auto* const found = reinterpret_cast<Request*>(*request);
  if (*request == MPI_REQUEST_NULL || found->state == State::inactive) {
    return call.fail(nullptr, MPI_ERR_REQUEST, "the request is null or inactive");
  }
  if (found->task != nullptr) return found->task->cancel(call);
  // Sends go on, and so does what is matched.
  (void)call.engine().cancel(*found);
  return MPI_SUCCESS;
}

int request_free(MPI_Request* request) {
  const Call call("MPI_Request_free");
  if (const int error = check_requests(call, 1, request)) return error;
  if (*request == MPI_REQUEST_NULL) {
    return call.fail(nullptr, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  give_up(call, *reinterpret_cast<Request*>(std::exchange(*request, MPI_REQUEST_NULL)));
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
