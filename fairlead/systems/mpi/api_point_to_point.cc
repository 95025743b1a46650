// The point-to-point calls: arguments to engine terms.
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/message_arguments.h"

namespace fairlead::mpi::api {
namespace {

// True: nothing is wrong, there is somebody, and `side` has the data, whose type is of the unusual
// kind.
[[gnu::cold, gnu::noinline]] bool unusual(const Call& call, Side& side, const void* buffer,
                                          MPI_Count count, MPI_Datatype datatype, int rank, int tag,
                                          MPI_Comm handle, bool receive) {
  side.nobody = rank == MPI_PROC_NULL;
  side.error = call.check_comm(handle);
  // Other libraries let a message to nobody of no data have no type.
  const bool nothing = side.nobody && count == 0 && datatype == MPI_DATATYPE_NULL;
  if (side.error == 0 && !nothing) {
    side.error = call.check_data(side.comm, buffer, count, datatype, "");
  }
  if (side.error == 0) {
    side.error = call.check_rank(side.comm, rank, receive ? "source" : "dest", receive);
  }
  if (side.error == 0) side.error = call.check_tag(side.comm, tag, receive);
  if (side.error != 0 || side.nobody) return false;
  side.data = data_of(*find_body(datatype), buffer, static_cast<std::uint64_t>(count));
  const bool any = rank == MPI_ANY_SOURCE;
  side.envelope = {side.comm->context, any ? kAnySource : side.comm->job_rank(rank), tag};
  return true;
}

// True: the message can go on as described.
inline bool describe(const Call& call, Side& side, const void* buffer, MPI_Count count,
                     MPI_Datatype datatype, int dest, int tag, MPI_Comm handle) {
  Comm* const comm = call.process().find(handle);
  const std::uint64_t element = size_of_type(datatype);
  side.comm = comm;
  if (comm == nullptr || element == 0 || count < 0 || tag < 0 ||
      (reinterpret_cast<std::uintptr_t>(buffer) <= 1 && (count > 0 || buffer != nullptr)) ||
      static_cast<unsigned>(dest) >= static_cast<unsigned>(comm->size)) [[unlikely]] {
    return unusual(call, side, buffer, count, datatype, dest, tag, handle, false);
  }
  side.data = {buffer, static_cast<std::uint64_t>(count) * element, nullptr};
  side.envelope = {comm->context, comm->job_rank(dest), tag};
  return true;
}

inline bool describe_in(const Call& call, Side& side, const void* buffer, MPI_Count count,
                        MPI_Datatype datatype, int source, int tag, MPI_Comm handle) {
  Comm* const comm = call.process().find(handle);
  const std::uint64_t element = size_of_type(datatype);
  side.comm = comm;
  const bool any = source == MPI_ANY_SOURCE;
  if (comm == nullptr || element == 0 || count < 0 || (tag < 0 && tag != MPI_ANY_TAG) ||
      (reinterpret_cast<std::uintptr_t>(buffer) <= 1 && (count > 0 || buffer != nullptr)) ||
      (!any && static_cast<unsigned>(source) >= static_cast<unsigned>(comm->size))) [[unlikely]] {
    return unusual(call, side, buffer, count, datatype, source, tag, handle, true);
  }
  static_assert(MPI_ANY_TAG == kAnyTag);
  side.data = {buffer, static_cast<std::uint64_t>(count) * element, nullptr};
  side.envelope = {comm->context, any ? kAnySource : comm->job_rank(source), tag};
  return true;
}

[[gnu::cold, gnu::noinline]] int truncated(const Call& call, const Comm* comm, int source, int tag,
                                           std::uint64_t sent, std::uint64_t room) {
  return call.fail(comm, MPI_ERR_TRUNCATE,
                   fmt::format("the message of rank {} with tag {} has {} bytes, the receive "
                               "buffer {}",
                               source, tag, sent, room));
}

// How a send goes: in a slot, without a call; in a packet of the fast path; as the port may.
enum class Going { in_slot, straight, by_port };

// A send that needs nothing of what the calls can do besides, with few instructions. False: nothing
// has happened.
template <Going how>
[[gnu::always_inline]] inline bool sends_now(Process& process, const void* buffer, MPI_Count count,
                                             MPI_Datatype datatype, int dest, int tag,
                                             MPI_Comm handle) {
  const Comm* const comm = process.find(handle);
  const std::uint64_t element = size_of_type(datatype);
  if (comm == nullptr || element == 0 || count < 0 || tag < 0 ||
      reinterpret_cast<std::uintptr_t>(buffer) <= 1 ||
      static_cast<unsigned>(dest) >= static_cast<unsigned>(comm->size)) [[unlikely]] {
    return false;
  }
  const std::uint64_t size = static_cast<std::uint64_t>(count) * element;
  const Rank to = comm->job_rank(dest);
  Engine& engine = process.engine();
  if constexpr (how == Going::in_slot) {
    return engine.post_slot(buffer, size, to, comm->context, tag);
  } else if constexpr (how == Going::straight) {
    return engine.post_straight(buffer, size, {comm->context, to, tag});
  } else {
    if (!engine.send_small(buffer, size, {comm->context, to, tag}, lci::kNoBlock)) return false;
    engine.look_around();
    return true;
  }
}
// As above, where one thread calls.
template <Going how>
[[gnu::always_inline]] inline bool sends_small(Process* process, const void* buffer,
                                               MPI_Count count, MPI_Datatype datatype, int dest,
                                               int tag, MPI_Comm handle) {
  if (process == nullptr || !process->plain()) [[unlikely]]
    return false;
  return sends_now<how>(*process, buffer, count, datatype, dest, tag, handle);
}
// And where several do, in whichever way.
bool sends_in_turn(Process* process, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                   int dest, int tag, MPI_Comm handle) {
  if (process == nullptr || !process->plain_in_turn()) return false;
  const Turn turn(*process);
  return sends_now<Going::in_slot>(*process, buffer, count, datatype, dest, tag, handle) ||
         sends_now<Going::straight>(*process, buffer, count, datatype, dest, tag, handle) ||
         sends_now<Going::by_port>(*process, buffer, count, datatype, dest, tag, handle);
}

// As above, for a receive; nullptr: nothing has happened. A short one is without a call.
template <bool is_short>
[[gnu::always_inline]] inline Request* receives_now(Process& process, void* buffer, MPI_Count count,
                                                    MPI_Datatype datatype, int source, int tag,
                                                    MPI_Comm handle) {
  Comm* const comm = process.find(handle);
  const std::uint64_t element = size_of_type(datatype);
  if (comm == nullptr || element == 0 || count < 0 || tag < 0 ||
      reinterpret_cast<std::uintptr_t>(buffer) <= 1 ||
      static_cast<unsigned>(source) >= static_cast<unsigned>(comm->size)) [[unlikely]] {
    return nullptr;
  }
  const std::uint64_t size = static_cast<std::uint64_t>(count) * element;
  const Rank from = comm->job_rank(source);
  Engine& engine = process.engine();
  Request* const request = is_short
                               ? engine.irecv_short(buffer, size, comm->context, from, tag, comm)
                               : engine.irecv(buffer, size, comm->context, from, tag, comm);
  if (request != nullptr) ++comm->uses;
  return request;
}
template <bool is_short>
[[gnu::always_inline]] inline Request* receives_plainly(Process* process, void* buffer,
                                                        MPI_Count count, MPI_Datatype datatype,
                                                        int source, int tag, MPI_Comm handle) {
  if (process == nullptr || !process->plain()) [[unlikely]]
    return nullptr;
  return receives_now<is_short>(*process, buffer, count, datatype, source, tag, handle);
}

[[gnu::cold, gnu::noinline]] int end_truncated(const Call& call, Request* request,
                                               MPI_Status* status) {
  Comm* const comm = request->comm;
  const Envelope envelope = request->envelope;
  const std::uint64_t size = request->size;
  const std::uint64_t room = request->capacity;
  call.process().complete(request, status);
  return truncated(call, comm, comm->rank_of(envelope.peer), envelope.tag, size, room);
}

// Ends a receive that was waited for; raises its error.
inline int end_in(const Call& call, Request* request, MPI_Status* status) {
  if (request->error != MPI_SUCCESS) [[unlikely]]
    return end_truncated(call, request, status);
  return call.process().complete(request, status);
}

// Where data of any layout is begun to be received and sent.
inline Request* begin_receive(const Call& call, const Side& side) {
  const Data& to = side.data;
  Request* request =
      call.engine().irecv(const_cast<void*>(to.at), to.size, side.envelope.context,
                          side.envelope.peer, side.envelope.tag, side.comm, to.layout);
  ++side.comm->uses;
  return request;
}

// The whole message at once, if that needs no request.
inline bool send_at_once(const Call& call, const Side& side, std::uint32_t flags) {
  const Data& from = side.data;
  return from.layout == nullptr &&
         call.engine().send_small(from.at, from.size, side.envelope, flags);
}
inline Request* begin_send(const Call& call, const Side& side, bool sync) {
  const Data& from = side.data;
  return call.engine().isend(from.at, from.size, side.envelope, sync, from.layout);
}

// The handle of a started send.
MPI_Request handle_of(const Call& call, Request* request, Comm* comm) {
  if (request == nullptr)
    request = &call.process().done_send();
  else {
    request->comm = comm;
    ++comm->uses;
  }
  return reinterpret_cast<MPI_Request>(request);
}

int blocking_send(const Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype,
                  int dest, int tag, MPI_Comm comm, bool sync) {
  Side side;
  if (!describe(call, side, buf, count, datatype, dest, tag, comm)) return side.error;
  if (!sync && send_at_once(call, side, lci::kNoFlags)) [[likely]]
    return MPI_SUCCESS;
  const Data& from = side.data;
  return call.engine().send(from.at, from.size, side.envelope, sync, call.name(), from.layout);
}

[[gnu::noinline]] int send_with_care(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                     int dest, int tag, MPI_Comm comm) {
  if (sends_small<Going::by_port>(Process::current(), buf, count, datatype, dest, tag, comm)) {
    return MPI_SUCCESS;
  }
  const Call call("MPI_Send");
  return blocking_send(call, buf, count, datatype, dest, tag, comm, false);
}

// Before which nothing needs to be kept that only the careful way has use for.
[[gnu::noinline]] int send_longer(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                                  int tag, MPI_Comm comm) {
  Process* const process = Process::current();
  if (sends_small<Going::straight>(process, buf, count, datatype, dest, tag, comm) ||
      sends_in_turn(process, buf, count, datatype, dest, tag, comm)) {
    return MPI_SUCCESS;
  }
  return send_with_care(buf, count, datatype, dest, tag, comm);
}

int starting_send(const Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype,
                  int dest, int tag, MPI_Comm comm, bool sync, MPI_Request* request) {
  Side side;
  if (!describe(call, side, buf, count, datatype, dest, tag, comm)) {
    if (side.error == MPI_SUCCESS) *request = handle_of(call, nullptr, nullptr);
    return side.error;
  }
  if (!sync && send_at_once(call, side, lci::kNoBlock)) [[likely]] {
    *request = reinterpret_cast<MPI_Request>(&call.process().done_send());
    return MPI_SUCCESS;
  }
  *request = handle_of(call, begin_send(call, side, sync), side.comm);
  return MPI_SUCCESS;
}

[[gnu::noinline]] int isend_with_care(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                      int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (sends_small<Going::by_port>(Process::current(), buf, count, datatype, dest, tag, comm)) {
    return MPI_SUCCESS;  // the request is that of a send that is done
  }
  const Call call("MPI_Isend");
  return starting_send(call, buf, count, datatype, dest, tag, comm, false, request);
}

[[gnu::noinline]] int isend_longer(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                   int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  Process* const process = Process::current();
  if (sends_small<Going::straight>(process, buf, count, datatype, dest, tag, comm) ||
      sends_in_turn(process, buf, count, datatype, dest, tag, comm)) {
    return MPI_SUCCESS;  // the request is that of a send that is done
  }
  return isend_with_care(buf, count, datatype, dest, tag, comm, request);
}

[[gnu::noinline]] int recv_with_care(void* buf, MPI_Count count, MPI_Datatype datatype, int source,
                                     int tag, MPI_Comm comm, MPI_Status* status) {
  const Call call("MPI_Recv");
  Side side;
  if (!describe_in(call, side, buf, count, datatype, source, tag, comm)) {
    if (side.error == MPI_SUCCESS) set_empty(status, MPI_PROC_NULL);
    return side.error;
  }
  Request* request = begin_receive(call, side);
  call.engine().wait(*request, call.name());
  return end_in(call, request, status);
}

// Where several threads call.
[[gnu::noinline]] int recv_in_turn(void* buf, MPI_Count count, MPI_Datatype datatype, int source,
                                   int tag, MPI_Comm comm, MPI_Status* status) {
  Process* const process = Process::current();
  Request* request = nullptr;
  if (process != nullptr && process->plain_in_turn()) {
    const Turn turn(*process);
    request = receives_now<false>(*process, buf, count, datatype, source, tag, comm);
    if (request != nullptr) {
      process->engine().wait(*request, "MPI_Recv");
      if (request->error == MPI_SUCCESS) [[likely]]
        return process->complete(request, status);
    }
  }
  if (request != nullptr) return end_truncated(Call("MPI_Recv"), request, status);
  return recv_with_care(buf, count, datatype, source, tag, comm, status);
}

[[gnu::noinline]] int irecv_with_care(void* buf, MPI_Count count, MPI_Datatype datatype, int source,
                                      int tag, MPI_Comm comm, MPI_Request* request) {
  const Call call("MPI_Irecv");
  Side side;
  if (!describe_in(call, side, buf, count, datatype, source, tag, comm)) {
    if (side.error != MPI_SUCCESS) return side.error;
    // Nothing will come: a receive that is done, with the status the standard asks for.
    *request = reinterpret_cast<MPI_Request>(&call.process().done_receive());
    return MPI_SUCCESS;
  }
  *request = reinterpret_cast<MPI_Request>(begin_receive(call, side));
  return MPI_SUCCESS;
}

// `sendbuf` may be reused as soon as this returns.
int send_and_receive(const Call& call, const void* sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                     MPI_Comm comm, MPI_Status* status) {
  Side in;
  Side out;
  const bool receives = describe_in(call, in, recvbuf, recvcount, recvtype, source, recvtag, comm);
  if (in.error != MPI_SUCCESS) return in.error;
  const bool sends = describe(call, out, sendbuf, sendcount, sendtype, dest, sendtag, comm);
  if (out.error != MPI_SUCCESS) return out.error;

  Request* receive = receives ? begin_receive(call, in) : nullptr;
  const bool sent = !sends || send_at_once(call, out, lci::kNoBlock);
  Request* send = sent ? nullptr : begin_send(call, out, false);
  if (send != nullptr) {
    call.engine().wait(*send, call.name());
    call.engine().finish(send);
  }
  if (receive == nullptr) {
    set_empty(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  call.engine().wait(*receive, call.name());
  return end_in(call, receive, status);
}

void fill_probed(const Comm* comm, const Unexpected& message, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = comm->rank_of(message.envelope.peer);
  status->MPI_TAG = message.envelope.tag;
  set_bytes(*status, message.size);
}

}  // namespace

int send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
         MPI_Comm comm) {
  if (sends_small<Going::in_slot>(Process::current(), buf, count, datatype, dest, tag, comm))
      [[likely]]
    return MPI_SUCCESS;
  return send_longer(buf, count, datatype, dest, tag, comm);
}

int ssend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm) {
  const Call call("MPI_Ssend");
  return blocking_send(call, buf, count, datatype, dest, tag, comm, true);
}

int isend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request* request) {
  Process* const process = Process::current();
  if (process != nullptr) [[likely]] {
    // First, so that nothing needs to be kept for later.
    *request = reinterpret_cast<MPI_Request>(&process->done_send());
    if (sends_small<Going::in_slot>(process, buf, count, datatype, dest, tag, comm)) [[likely]]
      return MPI_SUCCESS;
  }
  return isend_longer(buf, count, datatype, dest, tag, comm, request);
}

int issend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm, MPI_Request* request) {
  const Call call("MPI_Issend");
  return starting_send(call, buf, count, datatype, dest, tag, comm, true, request);
}

int recv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  Process* const process = Process::current();
  Request* const request =
      receives_plainly<false>(process, buf, count, datatype, source, tag, comm);
  if (request == nullptr) [[unlikely]]
    return recv_in_turn(buf, count, datatype, source, tag, comm, status);
  process->engine().wait(*request, "MPI_Recv");
  if (request->error != MPI_SUCCESS) [[unlikely]]
    return end_truncated(Call("MPI_Recv"), request, status);
  return process->complete(request, status);
}

int irecv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  Request* const made =
      receives_plainly<true>(Process::current(), buf, count, datatype, source, tag, comm);
  if (made == nullptr) [[unlikely]]
    return irecv_with_care(buf, count, datatype, source, tag, comm, request);
  *request = reinterpret_cast<MPI_Request>(made);
  return MPI_SUCCESS;
}

int sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) {
  return send_and_receive(Call("MPI_Sendrecv"), sendbuf, sendcount, sendtype, dest, sendtag,
                          recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

int sendrecv_replace(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                     int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const Call call("MPI_Sendrecv_replace");
  // The message goes from a copy, in a row.
  std::vector<std::byte> copy;
  if (Comm* const found = call.process().find(comm); found != nullptr && count > 0) {
    if (const int error = call.check_data(found, buf, count, datatype, "")) return error;
    copy = packed(data_of(*find_body(datatype), buf, static_cast<std::uint64_t>(count)));
  }
  const bool copied = !copy.empty();
  return send_and_receive(call, copied ? copy.data() : buf,
                          copied ? static_cast<MPI_Count>(copy.size()) : count,
                          copied ? MPI_BYTE : datatype, dest, sendtag, buf, count, datatype, source,
                          recvtag, comm, status);
}

// A ready send may be a standard one.
int rsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm) {
  return blocking_send(Call("MPI_Rsend"), buf, count, datatype, dest, tag, comm, false);
}

int irsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm, MPI_Request* request) {
  return starting_send(Call("MPI_Irsend"), buf, count, datatype, dest, tag, comm, false, request);
}

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const Call call("MPI_Probe");
  Side side;
  if (!describe_in(call, side, nullptr, 0, MPI_BYTE, source, tag, comm)) {
    if (side.error == MPI_SUCCESS) set_empty(status, MPI_PROC_NULL);
    return side.error;
  }
  const Unexpected* found = call.engine().probe(side.envelope);
  while (found == nullptr) {
    call.engine().wait_for_change(call.name(), {nullptr, side.comm, &side.envelope});
    found = call.engine().probe(side.envelope);
  }
  call.engine().wait_is_over();
  fill_probed(side.comm, *found, status);
  return MPI_SUCCESS;
}

int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Call call("MPI_Iprobe");
  Side side;
  if (!describe_in(call, side, nullptr, 0, MPI_BYTE, source, tag, comm)) {
    *flag = 1;
    if (side.error == MPI_SUCCESS) set_empty(status, MPI_PROC_NULL);
    return side.error;
  }
  call.engine().poll();
  const Unexpected* found = call.engine().probe(side.envelope);
  *flag = found != nullptr;
  if (found != nullptr) fill_probed(side.comm, *found, status);
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api

namespace fairlead::mpi {

bool describe_send(const Call& call, Side& side, const void* buffer, MPI_Count count,
                   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return api::describe(call, side, buffer, count, datatype, dest, tag, comm);
}

bool describe_receive(const Call& call, Side& side, const void* buffer, MPI_Count count,
                      MPI_Datatype datatype, int source, int tag, MPI_Comm comm) {
  return api::describe_in(call, side, buffer, count, datatype, source, tag, comm);
}

Request* start_receive(const Call& call, const Side& side) {
  return api::begin_receive(call, side);
}

Request* start_send(const Call& call, const Side& side, bool sync) {
  if (!sync && api::send_at_once(call, side, lci::kNoBlock)) return nullptr;
  return api::begin_send(call, side, sync);
}

int end_receive(const Call& call, Request* request, MPI_Status* status) {
  return api::end_in(call, request, status);
}

}  // namespace fairlead::mpi
