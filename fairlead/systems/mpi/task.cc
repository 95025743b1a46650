#include "fairlead/systems/mpi/task.h"

#include <algorithm>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/extras.h"

namespace fairlead::mpi {
namespace {

// So few are not worth a look.
constexpr std::size_t kSweepMin = 64;

}  // namespace

Task::Task(Process& process, RequestKind kind)
    : process_(process),
      request_(process.engine().make_request(
          kind, kind == RequestKind::persistent ? State::inactive : State::under_way, this)) {}

Task::~Task() {
  if (comm_ != nullptr) --comm_->uses;
  process_.engine().finish_task(request_);
}

void Task::use(Comm& comm) {
  comm_ = &comm;
  request_->comm = &comm;
  ++comm.uses;
}

int Task::start(const Call& call) {
  return call.fail(request_->comm, MPI_ERR_REQUEST, "the request is not persistent");
}

int Task::tell(const Call&, MPI_Status&) { return request_->error; }

void set_nothing(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  set_empty(status, MPI_ANY_SOURCE);
  status->MPI_ERROR = MPI_SUCCESS;  // which completing one request does not touch otherwise
}

int end_task(const Call& call, MPI_Request* handle, MPI_Status* status) {
  Request& request = *reinterpret_cast<Request*>(*handle);
  const bool persists = request.kind == RequestKind::persistent;
  if (!persists) *handle = MPI_REQUEST_NULL;
  if (request.state == State::inactive) {
    set_nothing(status);
    return MPI_SUCCESS;
  }
  if (persists && status == MPI_STATUS_IGNORE) {
    request.state = State::inactive;
    return request.error;
  }
  MPI_Status told{};
  call.process().fill_status(request, told);
  int error = request.task->tell(call, told);
  if (status != MPI_STATUS_IGNORE) {
    told.MPI_ERROR = status->MPI_ERROR;
    *status = told;
  }
  if (persists) {
    request.state = State::inactive;
    return error;
  }
  if (const int failed = request.task->end(call); error == MPI_SUCCESS) error = failed;
  delete request.task;
  return error;
}

void give_up(const Call& call, Request& request) {
  if (request.kind == RequestKind::constant) return;
  if (request.state == State::inactive) {
    delete request.task;
    return;
  }
  if (request.task != nullptr) request.task->freed = true;
  std::vector<Request*>& given_up = call.process().extras().given_up;
  given_up.push_back(&request);
  if (given_up.size() >= kSweepMin || request.done()) sweep_given_up(call);
}

void sweep_given_up(const Call& call) {
  if (!call.process().has_extras()) return;
  // What runs meanwhile may give up more.
  std::vector<Request*> looked_at = std::move(call.process().extras().given_up);
  call.process().extras().given_up.clear();
  std::erase_if(looked_at, [&](Request* request) {
    if (!request->done()) return false;
    if (request->task == nullptr) {
      (void)call.process().complete(request, MPI_STATUS_IGNORE);
      return true;
    }
    Task* const task = request->task;
    MPI_Request handle = task->handle();
    const bool persists = request->kind == RequestKind::persistent;
    (void)end_task(call, &handle, MPI_STATUS_IGNORE);
    if (persists) delete task;
    return true;
  });
  std::vector<Request*>& given_up = call.process().extras().given_up;
  given_up.insert(given_up.end(), looked_at.begin(), looked_at.end());
}

}  // namespace fairlead::mpi
