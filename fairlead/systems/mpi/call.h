// One MPI call under way: finds the process, takes the lock, reports errors.
#pragma once
#include <fmt/format.h>

#include <string>

#include "fairlead/systems/mpi/datatype.h"
#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {

class Call {
 public:
  // `name` is the MPI name of the call and outlives it. Ends the job when MPI is not running.
  [[gnu::always_inline]] explicit Call(const char* name)
      : name_(name), process_(Process::current()) {
    if (process_ == nullptr || process_->phase != Process::Phase::running) [[unlikely]]
      outside(name);
    if (process_->takes_turns()) [[unlikely]]
      process_->begin_turn();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[gnu::always_inline]] ~Call() {
    if (process_->takes_turns()) [[unlikely]]
      process_->end_turn();
  }

  const char* name() const { return name_; }
  Process& process() const { return *process_; }
  Engine& engine() const { return process_->engine(); }

  // Raises an error of class `error` on `comm` (nullptr: an error of no communicator,
  // Process::judge()): ends the job under MPI_ERRORS_ARE_FATAL and _ABORT, else returns
  // the class. `what` names the argument and says what is wrong with it.
  [[gnu::cold, gnu::noinline]] int fail(const Comm* comm, int error, const std::string& what) const;

  // Raises an error whose text is whole already.
  int raise(const Comm& on, int error, const std::string& text) const;
  // MPI_SUCCESS, or an error raised: a pointer to where an answer goes.
  int check_output(const Comm* comm, const void* pointer, const char* which) const {
    if (pointer != nullptr) [[likely]]
      return MPI_SUCCESS;
    return fail(comm, MPI_ERR_ARG, fmt::format("{} is a null pointer", which));
  }
  // Runs a function of the program, which may call MPI.
  template <class Function>
  auto run_outside(Function&& function) const {
    if (process_->lock != nullptr) engine().give_lock();
    ++process_->outside;
    auto answer = function();
    --process_->outside;
    if (process_->lock != nullptr) engine().take_lock();
    return answer;
  }

  // Each returns MPI_SUCCESS or raises the error. They make the texts of arguments already known
  // to be wrong, so they are off the message path.
  int check_comm(MPI_Comm handle) const;
  int check_data(const Comm* comm, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                 const char* which) const;
  int check_rank(const Comm* comm, int rank, const char* which, bool wildcard) const;
  int check_tag(const Comm* comm, int tag, bool wildcard) const;
  int check_root(const Comm* comm, int root) const;

  // Ends the job: `name` was called while MPI is not running.
  [[noreturn, gnu::cold, gnu::noinline]] static void outside(const char* name);

 private:
  const char* name_;
  Process* process_;
};

// Ends a program that is no rank, or not yet: prints and exits.
[[noreturn]] void exit_with(const std::string& reason);

}  // namespace fairlead::mpi
