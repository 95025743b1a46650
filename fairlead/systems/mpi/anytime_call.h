// One MPI call under way that the standard allows at any time: before MPI_Init, and after
// MPI_Finalize, too (MPI 5.0, section "Interoperability of MPI Procedures with Finalize").
#pragma once
#include <optional>
#include <string>

#include "fairlead/systems/mpi/call.h"

namespace fairlead::mpi {

class AnytimeCall {
 public:
  // `name` is the MPI name of the call and outlives it.
  explicit AnytimeCall(const char* name);
  AnytimeCall(const AnytimeCall&) = delete;
  AnytimeCall& operator=(const AnytimeCall&) = delete;

  // nullptr: MPI_Init has not been called.
  Process* process() const { return process_; }
  // As above, for what only it has: ends the job before MPI_Init.
  Process& begun_process() const;
  // What handles have for numbers: those of before MPI_Init are the process's from then on. Ends
  // the job there where ranks are fibers of one process.
  HandleNumbers& numbers() const;

  // An error class or code of the program's; nullptr: it added none such.
  UserErrors::Code* user_code(int code) const;
  // Adds a code of a class, or a class where that is 0. What is added before MPI_Init is the
  // process's from then on; there it ends the job where ranks are fibers of one process.
  int add_user_code(int error_class) const;
  // One that user_code() knows.
  void remove_user_code(int code) const;

  // As Call::fail() without a communicator. Before MPI_Init it ends the job; after MPI_Finalize it
  // returns `error` where Process::judge() had MPI_ERRORS_RETURN, else it ends the job.
  [[gnu::cold, gnu::noinline]] int fail(int error, const std::string& what) const;
  // MPI_SUCCESS, or an error raised: a pointer to where an answer goes.
  int check_output(const void* pointer, const char* which) const {
    if (pointer != nullptr) [[likely]]
      return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, fmt::format("{} is a null pointer", which));
  }

  // A new object for a handle: one of the process's `all`, or before MPI_Init one that stands
  // alone.
  template <class T>
  T* make(Objects<T> Process::*all) const {
    return process_ == nullptr ? Objects<T>::make_alone() : (process_->*all).make();
  }
  template <class T>
  void free(Objects<T> Process::*all, T* object) const {
    if (process_ == nullptr) return Objects<T>::free_alone(object);
    (process_->*all).free(object);
  }

 private:
  const char* name_;
  Process* process_;
  std::optional<Call> running_;  // between MPI_Init and MPI_Finalize
};

// What the program has made before MPI_Init that is no object, for the process that begins.
struct EarlyState {
  UserErrors user_errors;
  HandleNumbers numbers;
};
EarlyState take_early_state();

}  // namespace fairlead::mpi
