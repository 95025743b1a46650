// Waiting for requests and testing them.
#include <span>

#include "fairlead/systems/mpi/api_requests.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi::api {
namespace {

Request* object_of(MPI_Request handle) { return reinterpret_cast<Request*>(handle); }

bool valid(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return true;
  return reinterpret_cast<std::uintptr_t>(handle) >= kFirstObject &&
         object_of(handle)->state != State::idle;
}

int check(const Call& call, std::span<const MPI_Request> handles) {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (!valid(handles[i])) {
      return call.fail(nullptr, MPI_ERR_REQUEST,
                       fmt::format("request {} is no request, or one already complete", i));
    }
  }
  return MPI_SUCCESS;
}

// Null, or of a persistent request that is not started: nothing to wait for.
bool inactive(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || object_of(handle)->state == State::inactive;
}

bool done(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || object_of(handle)->done() ||
         object_of(handle)->state == State::inactive;
}

bool all_done(std::span<const MPI_Request> handles) {
  for (MPI_Request handle : handles) {
    if (!done(handle)) return false;
  }
  return true;
}

// That a receive was cancelled is no error.
int without_cancelled(int error) { return error == kCancelled ? MPI_SUCCESS : error; }

// Frees a done request and fills the status; returns its error without raising it.
int complete(const Call& call, MPI_Request* handle, MPI_Status* status) {
  if (*handle == MPI_REQUEST_NULL) {
    set_nothing(status);
    return MPI_SUCCESS;
  }
  Request* request = object_of(*handle);
  if (request->kind > RequestKind::constant) [[unlikely]]
    return without_cancelled(end_task(call, handle, status));
  *handle = MPI_REQUEST_NULL;
  return without_cancelled(call.process().complete(request, status));
}

// Why a request failed whose own error does not say it, for its handler.
constexpr const char* kFunctionFailed = "a function of it failed";

// Why a done request failed, likewise; empty where it did not.
std::string failure_of(const Request& request) {
  if (request.error == MPI_SUCCESS) return {};
  if (request.comm == nullptr) return kFunctionFailed;
  return fmt::format("the message of rank {} with tag {} has {} bytes, the receive buffer {}",
                     request.comm->rank_of(request.envelope.peer), request.envelope.tag,
                     request.size, request.capacity);
}

// As above, for a call on one request: raises the error where the request belongs.
int complete_one(const Call& call, MPI_Request* handle, MPI_Status* status) {
  if (*handle != MPI_REQUEST_NULL && object_of(*handle)->kind == RequestKind::persistent &&
      object_of(*handle)->error == MPI_SUCCESS && status == MPI_STATUS_IGNORE) {
    object_of(*handle)->state = State::inactive;  // as end_task() leaves it
    return MPI_SUCCESS;
  }
  if (*handle == MPI_REQUEST_NULL || (object_of(*handle)->error == MPI_SUCCESS &&
                                      object_of(*handle)->kind <= RequestKind::constant))
      [[likely]] {
    return complete(call, handle, status);
  }
  const Request* request = object_of(*handle);
  Comm* const comm = request->comm;
  const std::string what = failure_of(*request);
  const int error = complete(call, handle, status);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return call.fail(comm, error, what.empty() ? kFunctionFailed : what);
}

int complete_all(const Call& call, std::span<MPI_Request> handles, MPI_Status* statuses) {
  int failed = 0;
  const Comm* on = nullptr;
  std::string what;  // of the first that failed, which is this one
  std::size_t which = 0;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    const Request* request = handles[i] == MPI_REQUEST_NULL ? nullptr : object_of(handles[i]);
    if (request != nullptr && failed == 0 &&
        (request->error != MPI_SUCCESS || request->kind > RequestKind::constant)) [[unlikely]] {
      on = request->comm;
      what = failure_of(*request);
      which = i;
    }
    const int error = complete(call, &handles[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    failed += error != MPI_SUCCESS;
  }
  if (failed == 0) return MPI_SUCCESS;
  return call.fail(on, MPI_ERR_IN_STATUS,
                   fmt::format("request {}: {}", which, what.empty() ? kFunctionFailed : what));
}

std::span<MPI_Request> span_of(MPI_Request* requests, int count) {
  return {requests, static_cast<std::size_t>(count)};
}

int check_array(const Call& call, int count, const MPI_Request* requests) {
  if (count < 0) {
    return call.fail(nullptr, MPI_ERR_COUNT, fmt::format("count is {}, which is negative", count));
  }
  if (count > 0 && requests == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "array_of_requests is a null pointer");
  }
  return check(call, {requests, static_cast<std::size_t>(count)});
}

// Fills what the calls for some requests answer: the places of the done ones, their statuses, and
// how many there are: MPI_UNDEFINED when no request was active.
int complete_some(const Call& call, std::span<MPI_Request> handles, int* outcount, int* indices,
                  MPI_Status* statuses) {
  int found = 0;
  int failed = 0;
  const Comm* on = nullptr;
  bool any = false;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (inactive(handles[i])) continue;
    any = true;
    const Request& request = *object_of(handles[i]);
    if (!request.done()) continue;
    Comm* const comm = request.comm;
    MPI_Status* const status =
        statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[found];
    indices[found++] = static_cast<int>(i);
    const int error = complete(call, &handles[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    if (error == MPI_SUCCESS) continue;
    ++failed;
    on = comm;
  }
  *outcount = any ? found : MPI_UNDEFINED;
  if (failed == 0) return MPI_SUCCESS;
  return call.fail(on, MPI_ERR_IN_STATUS,
                   fmt::format("{} of the {} requests that are done failed: messages that are "
                               "longer than their receive buffers",
                               failed, found));
}

int check_places(const Call& call, int count, const int* outcount, const int* indices) {
  if (outcount != nullptr && (indices != nullptr || count == 0)) return MPI_SUCCESS;
  return call.fail(nullptr, MPI_ERR_ARG, "outcount or array_of_indices is a null pointer");
}

// Any request active, and the first of them that is done.
struct Search {
  bool any = false;
  int done = MPI_UNDEFINED;
};
Search search(std::span<const MPI_Request> handles) {
  Search answer;
  for (std::size_t i = 0; i < handles.size() && answer.done == MPI_UNDEFINED; ++i) {
    if (inactive(handles[i])) continue;
    answer.any = true;
    if (object_of(handles[i])->done()) answer.done = static_cast<int>(i);
  }
  return answer;
}

// The status of a request that stays.
void read_status(const Call& call, MPI_Request handle, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  if (inactive(handle)) return set_nothing(status);
  call.process().fill_status(*object_of(handle), *status);
  if (object_of(handle)->task != nullptr) (void)object_of(handle)->task->tell(call, *status);
}

}  // namespace

bool is_request(MPI_Request handle) { return valid(handle); }

int check_requests(const Call& call, int count, const MPI_Request* requests) {
  return check_array(call, count, requests);
}

int wait(MPI_Request* request, MPI_Status* status) {
  const Call call("MPI_Wait");
  if (request == nullptr || !valid(*request)) [[unlikely]]
    return check_array(call, 1, request);
  if (!done(*request)) call.engine().wait(*object_of(*request), call.name());
  return complete_one(call, request, status);
}

int waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  const Call call("MPI_Waitall");
  if (count < 0 || (count > 0 && array_of_requests == nullptr)) {
    return check_array(call, count, array_of_requests);
  }
  const std::span<MPI_Request> handles = span_of(array_of_requests, count);
  // A request that is none is found when its turn comes: one pass over the array less.
  for (MPI_Request handle : handles) {
    if (!valid(handle)) return check(call, handles);
    if (!done(handle)) call.engine().wait(*object_of(handle), call.name());
  }
  return complete_all(call, handles, array_of_statuses);
}

int waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
  const Call call("MPI_Waitany");
  if (const int error = check_array(call, count, array_of_requests)) return error;
  while (true) {
    const Search found = search(span_of(array_of_requests, count));
    if (found.done != MPI_UNDEFINED) {
      call.engine().wait_is_over();
      *indx = found.done;
      return complete_one(call, &array_of_requests[found.done], status);
    }
    if (!found.any) {
      *indx = MPI_UNDEFINED;
      set_nothing(status);
      return MPI_SUCCESS;
    }
    call.engine().wait_for_change(call.name());
  }
}

int waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
             MPI_Status* array_of_statuses) {
  const Call call("MPI_Waitsome");
  if (const int error = check_array(call, incount, array_of_requests)) return error;
  if (const int error = check_places(call, incount, outcount, array_of_indices)) return error;
  const std::span<MPI_Request> handles = span_of(array_of_requests, incount);
  for (Search found = search(handles); found.any && found.done == MPI_UNDEFINED;
       found = search(handles)) {
    call.engine().wait_for_change(call.name());
  }
  call.engine().wait_is_over();
  return complete_some(call, handles, outcount, array_of_indices, array_of_statuses);
}

int testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
             MPI_Status* array_of_statuses) {
  const Call call("MPI_Testsome");
  if (const int error = check_array(call, incount, array_of_requests)) return error;
  if (const int error = check_places(call, incount, outcount, array_of_indices)) return error;
  const std::span<MPI_Request> handles = span_of(array_of_requests, incount);
  if (search(handles).done == MPI_UNDEFINED) call.engine().poll();
  return complete_some(call, handles, outcount, array_of_indices, array_of_statuses);
}

int testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  const Call call("MPI_Testany");
  if (const int error = check_array(call, count, array_of_requests)) return error;
  const std::span<MPI_Request> handles = span_of(array_of_requests, count);
  Search found = search(handles);
  if (found.any && found.done == MPI_UNDEFINED) {
    call.engine().poll();
    found = search(handles);
  }
  *indx = found.done;
  *flag = found.done != MPI_UNDEFINED || !found.any;
  if (found.done != MPI_UNDEFINED) {
    return complete_one(call, &array_of_requests[found.done], status);
  }
  if (!found.any) set_nothing(status);
  return MPI_SUCCESS;
}

int request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const Call call("MPI_Request_get_status");
  if (const int error = check_array(call, 1, &request)) return error;
  if (!done(request)) call.engine().poll();
  *flag = done(request);
  if (*flag != 0) read_status(call, request, status);
  return MPI_SUCCESS;
}

int request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                           MPI_Status* array_of_statuses) {
  const Call call("MPI_Request_get_status_all");
  if (const int error = check_array(call, count, array_of_requests)) return error;
  const std::span<const MPI_Request> handles(array_of_requests, static_cast<std::size_t>(count));
  if (!all_done(handles)) call.engine().poll();
  *flag = all_done(handles);
  if (*flag == 0 || array_of_statuses == MPI_STATUSES_IGNORE) return MPI_SUCCESS;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    read_status(call, handles[i], &array_of_statuses[i]);
  }
  return MPI_SUCCESS;
}

int request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag,
                           MPI_Status* status) {
  const Call call("MPI_Request_get_status_any");
  if (const int error = check_array(call, count, array_of_requests)) return error;
  const std::span<const MPI_Request> handles(array_of_requests, static_cast<std::size_t>(count));
  if (search(handles).done == MPI_UNDEFINED) call.engine().poll();
  const Search found = search(handles);
  *indx = found.done;
  *flag = found.done != MPI_UNDEFINED || !found.any;
  if (found.done != MPI_UNDEFINED) {
    read_status(call, handles[static_cast<std::size_t>(found.done)], status);
  } else if (!found.any) {
    set_nothing(status);
  }
  return MPI_SUCCESS;
}

int request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                            int array_of_indices[], MPI_Status* array_of_statuses) {
  const Call call("MPI_Request_get_status_some");
  if (const int error = check_array(call, incount, array_of_requests)) return error;
  if (const int error = check_places(call, incount, outcount, array_of_indices)) return error;
  const std::span<const MPI_Request> handles(array_of_requests, static_cast<std::size_t>(incount));
  const Search first = search(handles);
  if (first.done == MPI_UNDEFINED) call.engine().poll();
  int found = 0;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (inactive(handles[i]) || !object_of(handles[i])->done()) continue;
    if (array_of_statuses != MPI_STATUSES_IGNORE) {
      read_status(call, handles[i], &array_of_statuses[found]);
    }
    array_of_indices[found++] = static_cast<int>(i);
  }
  *outcount = first.any ? found : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  const Call call("MPI_Test");
  if (const int error = check_array(call, 1, request)) return error;
  if (!done(*request)) call.engine().poll();
  *flag = done(*request);
  return *flag == 0 ? MPI_SUCCESS : complete_one(call, request, status);
}

int testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
  const Call call("MPI_Testall");
  if (const int error = check_array(call, count, array_of_requests)) return error;
  const std::span<MPI_Request> handles = span_of(array_of_requests, count);
  if (!all_done(handles)) call.engine().poll();
  *flag = all_done(handles);
  return *flag == 0 ? MPI_SUCCESS : complete_all(call, handles, array_of_statuses);
}

}  // namespace fairlead::mpi::api
