// Buffered sends and the buffers they go through.
#include <memory>

#include "fairlead/systems/mpi/api_requests.h"
#include "fairlead/systems/mpi/attached_buffers.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi::api {
namespace {

// nullptr: none is attached. `comm` nullptr: the process's.
SendBuffer* find_buffer(const Call& call, const Comm* comm) {
  return attached_buffer(call.process(), comm);
}

int attach(const Call& call, const Comm* comm, void* buffer, MPI_Count size) {
  const bool automatic = buffer == MPI_BUFFER_AUTOMATIC;
  if (size < 0) return call.fail(comm, MPI_ERR_ARG, fmt::format("size is {}", size));
  if (buffer == nullptr && size > 0) {
    return call.fail(comm, MPI_ERR_BUFFER, "buffer is a null pointer");
  }
  if (find_buffer(call, comm) != nullptr) {
    return call.fail(comm, MPI_ERR_BUFFER, "a buffer is attached already");
  }
  call.process().extras().buffers[comm] =
      std::make_unique<SendBuffer>(buffer, static_cast<std::uint64_t>(size), automatic);
  return MPI_SUCCESS;
}

// `address` is where the buffer's address goes.
int detach(const Call& call, const Comm* comm, void* address, MPI_Count* size) {
  if (address == nullptr || size == nullptr) {
    return call.fail(comm, MPI_ERR_ARG, "buffer_addr or size is a null pointer");
  }
  SendBuffer* const buffer = find_buffer(call, comm);
  *static_cast<void**>(address) = nullptr;
  *size = 0;
  if (buffer == nullptr) return MPI_SUCCESS;
  buffer->flush(call.engine(), call.name());
  *static_cast<void**>(address) = buffer->automatic() ? MPI_BUFFER_AUTOMATIC : buffer->base();
  *size = buffer->automatic() ? 0 : static_cast<MPI_Count>(buffer->size());
  call.process().extras().buffers.erase(comm);
  return MPI_SUCCESS;
}

int flush(const Call& call, const Comm* comm) {
  SendBuffer* const buffer = find_buffer(call, comm);
  if (buffer != nullptr) buffer->flush(call.engine(), call.name());
  return MPI_SUCCESS;
}

// Over when what lay in the buffer at its start is sent, or the buffer is detached, which waits for
// that.
class Flush final : public Task, public Driven {
 public:
  Flush(const Call& call, const Comm* comm)
      : Task(call.process(), RequestKind::task), owner_(comm), end_(find_end(call, comm)) {
    call.engine().drive(*this);
  }

  Step advance() override {
    SendBuffer* const buffer = attached_buffer(process_, owner_);
    if (buffer != nullptr && !buffer->sent(process_.engine(), end_)) return Step::none;
    request().state = State::done;
    return Step::over;
  }

  int cancel(const Call&) override { return MPI_SUCCESS; }

 private:
  static std::uint64_t find_end(const Call& call, const Comm* comm) {
    const SendBuffer* const buffer = find_buffer(call, comm);
    return buffer == nullptr ? 0 : buffer->count();
  }

  const Comm* const owner_;
  const std::uint64_t end_;
};

int begin_flush(const Call& call, const Comm* comm, MPI_Request* request) {
  if (const int error = call.check_output(comm, request, "request")) return error;
  *request = (new Flush(call, comm))->handle();
  return MPI_SUCCESS;
}

int buffered_send(const Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype,
                  int dest, int tag, MPI_Comm comm) {
  Side side;
  if (!describe_send(call, side, buf, count, datatype, dest, tag, comm)) return side.error;
  return send_buffered(call, side);
}

}  // namespace

int send_buffered(const Call& call, const Side& side) {
  SendBuffer* buffer = find_buffer(call, side.comm);
  if (buffer == nullptr) buffer = find_buffer(call, nullptr);
  if (buffer == nullptr) {
    return call.fail(side.comm, MPI_ERR_BUFFER, "no buffer is attached (MPI_Buffer_attach)");
  }
  if (buffer->send(call.engine(), side.data, side.envelope)) return MPI_SUCCESS;
  call.engine().poll();
  if (buffer->send(call.engine(), side.data, side.envelope)) return MPI_SUCCESS;
  return call.fail(side.comm, MPI_ERR_BUFFER,
                   fmt::format("the attached buffer of {} bytes has no room for {} more",
                               buffer->size(), side.data.size));
}

int bsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm) {
  return buffered_send(Call("MPI_Bsend"), buf, count, datatype, dest, tag, comm);
}

int ibsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm, MPI_Request* request) {
  const Call call("MPI_Ibsend");
  if (const int error = buffered_send(call, buf, count, datatype, dest, tag, comm)) return error;
  if (const int error = call.check_output(nullptr, request, "request")) return error;
  *request = reinterpret_cast<MPI_Request>(&call.process().done_send());
  return MPI_SUCCESS;
}

int buffer_attach(void* buffer, MPI_Count size) {
  return attach(Call("MPI_Buffer_attach"), nullptr, buffer, size);
}
int buffer_detach(void* buffer_addr, MPI_Count* size) {
  return detach(Call("MPI_Buffer_detach"), nullptr, buffer_addr, size);
}
int buffer_flush() { return flush(Call("MPI_Buffer_flush"), nullptr); }
int buffer_iflush(MPI_Request* request) {
  return begin_flush(Call("MPI_Buffer_iflush"), nullptr, request);
}

int comm_attach_buffer(MPI_Comm comm, void* buffer, MPI_Count size) {
  const Call call("MPI_Comm_attach_buffer");
  const Comm* const found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : attach(call, found, buffer, size);
}
int comm_detach_buffer(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
  const Call call("MPI_Comm_detach_buffer");
  const Comm* const found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : detach(call, found, buffer_addr, size);
}
int comm_flush_buffer(MPI_Comm comm) {
  const Call call("MPI_Comm_flush_buffer");
  const Comm* const found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : flush(call, found);
}
int comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  const Call call("MPI_Comm_iflush_buffer");
  const Comm* const found = call.process().find(comm);
  return found == nullptr ? call.check_comm(comm) : begin_flush(call, found, request);
}

}  // namespace fairlead::mpi::api
