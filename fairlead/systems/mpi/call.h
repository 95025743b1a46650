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

  // Raises an error of class `error` on `comm` (nullptr: MPI_COMM_SELF, as the standard says for
  // errors of no communicator): ends the job under MPI_ERRORS_ARE_FATAL and _ABORT, else answers
  // the class. `what` names the argument and says what is wrong with it.
  [[gnu::cold, gnu::noinline]] int fail(const Comm* comm, int error, const std::string& what) const;

  // Each answers MPI_SUCCESS or raises the error. They make the texts of arguments already known
  // to be wrong, so they are off the message path.
  int check_comm(MPI_Comm handle) const;
  int check_data(const Comm* comm, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                 const char* which) const;
  int check_rank(const Comm* comm, int rank, const char* which, bool wildcard) const;
  int check_tag(const Comm* comm, int tag, bool wildcard) const;
  int check_root(const Comm* comm, int root) const;

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void outside(const char* name);

  const char* name_;
  Process* process_;
};

// Ends a program that is no rank, or not yet: prints and exits.
[[noreturn]] void exit_with(const std::string& reason);

}  // namespace fairlead::mpi
