#include "fairlead/systems/mpi/anytime_call.h"

#include <utility>

#include "fairlead/systems/mpi/errors.h"

namespace fairlead::mpi {
namespace {

// A process's that has one rank: nothing else of it exists yet.
EarlyState& early_of_process() {
  static EarlyState early;
  return early;
}

// nullptr: ranks are fibers of one process, which would share it.
EarlyState* early_state() { return run::current() == nullptr ? &early_of_process() : nullptr; }

}  // namespace

AnytimeCall::AnytimeCall(const char* name) : name_(name), process_(Process::current()) {
  if (process_ != nullptr && process_->phase == Process::Phase::running) running_.emplace(name);
}

Process& AnytimeCall::begun_process() const {
  if (process_ == nullptr) Call::outside(name_);
  return *process_;
}

HandleNumbers& AnytimeCall::numbers() const {
  if (process_ != nullptr) return process_->numbers;
  EarlyState* const early = early_state();
  if (early == nullptr) Call::outside(name_);
  return early->numbers;
}

UserErrors::Code* AnytimeCall::user_code(int code) const {
  if (process_ != nullptr) return process_->user_errors.find(code);
  EarlyState* const early = early_state();
  return early == nullptr ? nullptr : early->user_errors.find(code);
}

int AnytimeCall::add_user_code(int error_class) const {
  if (process_ != nullptr) return process_->user_errors.add(error_class);
  EarlyState* const early = early_state();
  if (early == nullptr) Call::outside(name_);
  return early->user_errors.add(error_class);
}

void AnytimeCall::remove_user_code(int code) const {
  (process_ != nullptr ? process_->user_errors : early_state()->user_errors).remove(code);
}

EarlyState take_early_state() { return std::exchange(early_of_process(), {}); }

int AnytimeCall::fail(int error, const std::string& what) const {
  if (running_) return running_->fail(nullptr, error, what);
  if (process_ != nullptr && process_->judge().handler == MPI_ERRORS_RETURN) return error;
  const ErrorClass* const known = find_error(error);
  const std::string reason =
      fmt::format("{} failed {}: {} ({}: {})", name_,
                  process_ == nullptr ? "before MPI_Init" : "after MPI_Finalize", what,
                  known != nullptr ? known->name : "", known != nullptr ? known->text : "");
  if (run::Context* const context = run::current(); context != nullptr) {
    end_job(*context, error, reason);
  }
  exit_with(reason);
}

}  // namespace fairlead::mpi
