#include "fairlead/systems/mpi/process.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fairlead::mpi {

Comm* Process::make_comm() {
  for (const std::unique_ptr<Comm>& old : comms_) {
    if (old->live != Comm::kLive && old->uses == 0) {
      *old = Comm();
      return old.get();
    }
  }
  comms_.push_back(std::make_unique<Comm>());
  return comms_.back().get();
}

const Comm* Process::find_context(std::uint32_t context) const {
  const std::uint32_t wanted = context & kContextMask & ~kScheduleContext & ~1u;
  if (wanted == world_.context) return &world_;
  if (wanted == self_.context) return &self_;
  for (const std::unique_ptr<Comm>& each : comms_) {
    if (each->live == Comm::kLive && each->context == wanted) return each.get();
  }
  return nullptr;
}

void Process::free_comm(Comm* comm) {
  if (comm->both != nullptr) free_comm(comm->both);
  set_handler(*comm, MPI_ERRORS_ARE_FATAL);
  comm->live = 0;
}

void Process::set_handler(Comm& comm, MPI_Errhandler handler) {
  if (comm.both != nullptr) set_handler(*comm.both, handler);
  ErrorHandler* const made = Objects<ErrorHandler>::find(handler);
  ErrorHandler* const old = Objects<ErrorHandler>::find(comm.handler);
  if (made != nullptr) ++made->uses;
  if (old != nullptr) release_handler(*old);
  comm.handler = handler;
}

void Process::release_handler(ErrorHandler& handler) {
  if (--handler.uses == 0) error_handlers.free(&handler);
}

void Process::fill_status(const Request& request, MPI_Status& status) const {
  if (request.is_send || &request == &done_receive_) {
    set_empty(&status, request.is_send ? MPI_ANY_SOURCE : MPI_PROC_NULL);
    return;
  }
  if (request.error == kCancelled) {
    set_empty(&status, MPI_ANY_SOURCE);
    status.MPI_internal[2] = 1;
    return;
  }
  status.MPI_SOURCE = request.comm->rank_of(request.envelope.peer);
  status.MPI_TAG = request.envelope.tag;
  set_bytes(status, std::min(request.size, request.capacity));
}

void end_job(run::Context& context, int code, const std::string& reason) {
  context.abort_job(code, reason);
  std::abort();
}

void set_empty(MPI_Status* status, int source) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = MPI_ANY_TAG;
  set_bytes(*status, 0);
}

void set_bytes(MPI_Status& status, std::uint64_t bytes) {
  std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
  status.MPI_internal[2] = 0;  // not cancelled
}

std::uint64_t bytes_of(const MPI_Status& status) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}

}  // namespace fairlead::mpi
