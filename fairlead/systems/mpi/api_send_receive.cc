// A send and a receive behind one request.
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/api_requests.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/task.h"

namespace fairlead::mpi::api {
namespace {

// Over when both are; its status is the receive's. nullptr: done, or to nobody.
class SendReceive final : public Task, public Driven {
 public:
  SendReceive(const Call& call, Comm& comm, Request* send, Request* receive,
              std::vector<std::byte> copy)
      : Task(call.process(), RequestKind::task),
        send_(send),
        receive_(receive),
        copy_(std::move(copy)) {
    use(comm);
    call.engine().drive(*this);
  }

  Step advance() override {
    if (send_ != nullptr && send_->done()) process_.engine().finish(std::exchange(send_, nullptr));
    if (send_ != nullptr || (receive_ != nullptr && !receive_->done())) return Step::none;
    request().state = State::done;
    return Step::over;
  }

  int tell(const Call&, MPI_Status& status) override {
    if (receive_ == nullptr) {
      set_empty(&status, MPI_PROC_NULL);
      return MPI_SUCCESS;
    }
    process_.fill_status(*receive_, status);
    return receive_->error;
  }
  int end(const Call&) override {
    if (receive_ != nullptr) (void)process_.complete(receive_, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
  }
  int cancel(const Call&) override { return MPI_SUCCESS; }

 private:
  Request* send_;
  Request* receive_;
  const std::vector<std::byte> copy_;
};

struct Half {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int peer;
  int tag;
};

// `replaces`: the message is sent from a copy, as the receive goes where it lies.
int begin(const Call& call, const Half& out, const Half& in, bool replaces, MPI_Comm comm,
          MPI_Request* request) {
  Side to;
  Side from;
  const bool receives =
      describe_receive(call, from, in.buffer, in.count, in.type, in.peer, in.tag, comm);
  if (!receives && from.error != MPI_SUCCESS) return from.error;
  const bool sends =
      describe_send(call, to, out.buffer, out.count, out.type, out.peer, out.tag, comm);
  if (!sends && to.error != MPI_SUCCESS) return to.error;
  if (const int error = call.check_output(to.comm, request, "request")) return error;
  std::vector<std::byte> copy;
  if (sends && replaces && to.data.size != 0) {
    copy = packed(to.data);
    to.data = {copy.data(), copy.size(), nullptr};
  }
  Request* const receive = receives ? start_receive(call, from) : nullptr;
  Request* const send = sends ? start_send(call, to, false) : nullptr;
  if (send == nullptr) {
    // What is left is the receive.
    *request = reinterpret_cast<MPI_Request>(receive != nullptr ? receive
                                                                : &call.process().done_receive());
    return MPI_SUCCESS;
  }
  *request = (new SendReceive(call, *to.comm, send, receive, std::move(copy)))->handle();
  return MPI_SUCCESS;
}

}  // namespace

int isendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
              int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
              int recvtag, MPI_Comm comm, MPI_Request* request) {
  return begin(Call("MPI_Isendrecv"), {sendbuf, sendcount, sendtype, dest, sendtag},
               {recvbuf, recvcount, recvtype, source, recvtag}, false, comm, request);
}

int isendrecv_replace(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                      int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return begin(Call("MPI_Isendrecv_replace"), {buf, count, datatype, dest, sendtag},
               {buf, count, datatype, source, recvtag}, true, comm, request);
}

}  // namespace fairlead::mpi::api
