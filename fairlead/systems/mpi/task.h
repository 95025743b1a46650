// Requests that are more than one message: persistent ones, collectives under way, generalized
// ones, pairs of messages. Each has a Request in the engine's pool, which the program's handle
// points to and which says whether it is done; the calls that wait know no other. What else there
// is to it, a Task knows.
#pragma once
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

class Call;
class Process;

class Task {
 public:
  // `kind` is task or persistent. The request is under way, or inactive if it is persistent.
  Task(Process& process, RequestKind kind);
  virtual ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  Request& request() { return *request_; }
  MPI_Request handle() { return reinterpret_cast<MPI_Request>(request_); }

  // Begins what an inactive request stands for; an MPI error class, raised.
  virtual int start(const Call& call);
  // Tells of the done request what its Request does not: `status` says that already. Answers the
  // class of its error, not raised.
  virtual int tell(const Call& call, MPI_Status& status);
  // The task was reported and goes. Answers the class of an error, not raised.
  virtual int end(const Call&) { return MPI_SUCCESS; }
  // MPI_Cancel of an active request; an MPI error class, raised.
  virtual int cancel(const Call& call) = 0;

  // Keeps `comm` in use until the task goes.
  void use(Comm& comm);
  // Freed by the program before it was done.
  bool freed = false;

 protected:
  Process& process_;

 private:
  Request* const request_;
  Comm* comm_ = nullptr;
};

// Reports the request of a Task, which is done or inactive: fills `status` (may be ignored), and
// deletes the task unless it is persistent; then the handle stays. Returns an error class, not
// raised.
int end_task(const Call& call, MPI_Request* handle, MPI_Status* status);

// The standard's empty status: of a request that is null or inactive. May be ignored.
void set_nothing(MPI_Status* status);

// The program gives the request up (MPI_Request_free): what is under way goes on and is deleted
// when it is done.
void give_up(const Call& call, Request& request);
// Deletes of those what is done by now.
void sweep_given_up(const Call& call);

}  // namespace fairlead::mpi
