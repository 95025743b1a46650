// Generalized requests: the program does the work and says when it is done.
#include "fairlead/systems/mpi/api_requests.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi::api {
namespace {

struct Functions {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

class Generalized final : public Task {
 public:
  Generalized(Process& process, const Functions& functions)
      : Task(process, RequestKind::task), functions_(functions) {}

  int tell(const Call& call, MPI_Status& status) override {
    return call.run_outside([&] { return functions_.query(functions_.extra_state, &status); });
  }
  int end(const Call& call) override {
    return call.run_outside([&] { return functions_.free(functions_.extra_state); });
  }
  int cancel(const Call& call) override {
    const int is_done = request().done() ? 1 : 0;
    const int error =
        call.run_outside([&] { return functions_.cancel(functions_.extra_state, is_done); });
    if (error == MPI_SUCCESS) return error;
    return call.fail(nullptr, error, "the request's cancel function failed");
  }

 private:
  const Functions functions_;
};

}  // namespace

int grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                   MPI_Grequest_cancel_function* cancel_fn, void* extra_state,
                   MPI_Request* request) {
  const Call call("MPI_Grequest_start");
  if (query_fn == nullptr || free_fn == nullptr || cancel_fn == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "one of the functions is a null pointer");
  }
  if (const int error = call.check_output(nullptr, request, "request")) return error;
  const Functions functions{query_fn, free_fn, cancel_fn, extra_state};
  *request = (new Generalized(call.process(), functions))->handle();
  return MPI_SUCCESS;
}

int grequest_complete(MPI_Request request) {
  const Call call("MPI_Grequest_complete");
  if (const int error = check_requests(call, 1, &request)) return error;
  auto* const found = reinterpret_cast<Request*>(request);
  if (request == MPI_REQUEST_NULL || dynamic_cast<Generalized*>(found->task) == nullptr) {
    return call.fail(nullptr, MPI_ERR_REQUEST, "the request is no generalized one");
  }
  found->state = State::done;
  if (found->task->freed) sweep_given_up(call);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
