// One MPI process: what MPI_Init makes and every call finds through the current rank.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/fair_lock.h"
#include "fairlead/base/spare_memory.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/datatypes/type_store.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/error_handler.h"
#include "fairlead/systems/mpi/group.h"
#include "fairlead/systems/mpi/handle_numbers.h"
#include "fairlead/systems/mpi/info.h"
#include "fairlead/systems/mpi/job_options.h"
#include "fairlead/systems/mpi/user_operation.h"

namespace fairlead::mpi {

struct Extras;
class Background;  // background.h
class Network;     // collectives/network.h
class Windows;     // windows/windows.h

// The device that a job has which asked for `asked`: a name of its own.
DeviceName device_in(run::Context& context, DeviceName asked);

class Process {
 public:
  enum class Phase : std::uint8_t { running, finalized };
  // What a new communicator's first context would be: two a communicator, the last kept free.
  static constexpr std::uint32_t kFirstFreeContext = 4;
  static constexpr std::uint32_t kContextsEnd = kCopyContext - 1;

  // All ranks where a device needs it: returns when every rank has called it.
  Process(run::Context& context, int thread_level, const JobOptions& options);
  ~Process();

  // The current rank's; nullptr before MPI_Init.
  static Process* current() {
    run::Context* context = run::current();
    return context == nullptr ? nullptr : static_cast<Process*>(context->state(run::System::mpi));
  }

  // nullptr when the handle is no communicator.
  Comm* find(MPI_Comm handle) {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    if (value == reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD)) [[likely]]
      return &world_;
    if (value == reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF)) return &self_;
    if (value < kFirstObject) return nullptr;
    Comm* const comm = reinterpret_cast<Comm*>(value);
    return comm->live == Comm::kLive ? comm : nullptr;
  }
  static MPI_Comm handle_of(Comm* comm) { return reinterpret_cast<MPI_Comm>(comm); }
  static MPI_Comm handle_or_null(Comm* comm) {
    return comm == nullptr ? MPI_COMM_NULL : handle_of(comm);
  }
  // Whose error handler hears of errors of no communicator: MPI_COMM_SELF, as the standard says
  // since MPI 4.0. Where the program has set none there, but one for MPI_COMM_WORLD, it is that:
  // programs for MPI before rely on it, and other libraries call it, too.
  const Comm& judge() const {
    const bool is_worlds =
        self_.handler == MPI_ERRORS_ARE_FATAL && world_.handler != MPI_ERRORS_ARE_FATAL;
    return is_worlds ? world_ : self_;
  }
  // Returns the handle that the program knows a communicator by.
  MPI_Comm known_as(const Comm& comm) const {
    if (&comm == &world_) return MPI_COMM_WORLD;
    return &comm == &self_ ? MPI_COMM_SELF : reinterpret_cast<MPI_Comm>(const_cast<Comm*>(&comm));
  }
  // The communicator whose messages, or whose collectives, have that context; nullptr: none.
  const Comm* find_context(std::uint32_t context) const;
  // A communicator object to fill in; bounded by the contexts there are.
  Comm* make_comm();
  // `comm` has `handler` from now on, instead of what it had.
  void set_handler(Comm& comm, MPI_Errhandler handler);
  void release_handler(ErrorHandler& handler);
  // The object is used again once no request refers to it.
  void free_comm(Comm* comm);

  // Gives a done request back, which is a message or a constant, and fills `status` (may be
  // ignored); returns its error class.
  int complete(Request* request, MPI_Status* status) {
    if (status != MPI_STATUS_IGNORE) fill_status(*request, *status);
    if (request->kind != RequestKind::message) return MPI_SUCCESS;
    const int error = request->error;
    --request->comm->uses;
    engine_.finish(request);
    return error;
  }

  run::Context& context() { return context_; }
  Engine& engine() { return engine_; }
  Comm& world() { return world_; }
  Comm& self() { return self_; }
  // What the handle of a send that was done at once points to; never given back.
  Request& done_send() { return done_send_; }
  // As above, for a receive from MPI_PROC_NULL.
  Request& done_receive() { return done_receive_; }

  Phase phase = Phase::running;
  // Calls may take the short ways: they run, one thread makes them, no upcall does meanwhile, and
  // work is free.
  bool plain() const { return may_be_plain_ && !engine_.port().wakes(); }
  // As above, within a turn (Turn) where several threads make calls.
  bool plain_in_turn() const { return may_be_plain_in_turn_ && !engine_.port().wakes(); }
  // Calls run, one thread makes them and work is free, whether or not upcalls run meanwhile.
  bool one_thread_calls() const { return may_be_plain_; }
  // Several threads make calls, or some system of the program lets upcalls run between them
  // (Port::wake): a call is a turn.
  bool takes_turns() const { return lock != nullptr || engine_.port().wakes(); }
  [[gnu::noinline]] void begin_turn();
  [[gnu::noinline]] void end_turn();
  // Within a Call: `work`, which has begun and is not over, goes on while the rank computes, where
  // that can be (background.h).
  void let_go_on(const Driven& work);
  // Functions of the program that run within a Call now.
  int outside = 0;
  // The calls that still come are of another kind.
  void finalize() {
    phase = Phase::finalized;
    may_be_plain_ = false;
    may_be_plain_in_turn_ = false;
  }
  const int thread_level;
  const BcastWay bcast_way;
  const std::unique_ptr<FairLock> lock;  // calls take it; MPI_THREAD_MULTIPLE only
  std::uint32_t next_context = kFirstFreeContext;
  SpareMemory spares;
  HandleNumbers numbers;
  // What the program has made.
  Objects<Group> groups;
  Objects<UserOperation> operations;
  Objects<Info> infos;
  Objects<ErrorHandler> error_handlers;
  Keyvals keyvals;
  // Made when the first datatype, or key for one, is.
  TypeStore& types() {
    if (types_ == nullptr) types_ = std::make_unique<TypeStore>();
    return *types_;
  }
  UserErrors user_errors;
  WorldAttributes world_attributes;
  std::unique_ptr<Network> network;  // nullptr: it does nothing for collectives
  std::unique_ptr<Windows> windows;  // nullptr until the first is made
  const std::thread::id main_thread = std::this_thread::get_id();  // that called MPI_Init
  bool has_extras() const { return extras_ != nullptr; }
  Extras& extras();
  // Tells what a done request did.
  void fill_status(const Request& request, MPI_Status& status) const;

 private:
  bool may_be_plain_ = false;
  bool may_be_plain_in_turn_ = false;
  run::Context& context_;
  Comm world_;
  Engine engine_;
  Comm self_;
  Request done_send_;
  Request done_receive_;
  std::vector<std::unique_ptr<Comm>> comms_;
  std::unique_ptr<TypeStore> types_;
  std::unique_ptr<Extras> extras_;
  std::unique_ptr<Background> background_;  // nullptr until something was to go on
};

// A turn of one of several threads, where a call takes a short way.
class Turn {
 public:
  explicit Turn(Process& process) : engine_(process.engine()) { engine_.take_lock(); }
  ~Turn() { engine_.give_lock(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Engine& engine_;
};

// Ends the job (Context::abort_job; GCC forgets that a virtual function does not return).
[[noreturn]] void end_job(run::Context& context, int code, const std::string& reason);

// A status as the standard wants it for a request that is null, or a receive from MPI_PROC_NULL.
void set_empty(MPI_Status* status, int source);
// Size in bytes of the message a status tells of.
void set_bytes(MPI_Status& status, std::uint64_t bytes);
std::uint64_t bytes_of(const MPI_Status& status);

}  // namespace fairlead::mpi
