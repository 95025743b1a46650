#include "fairlead/systems/mpi/anytime_call.h"

#include "fairlead/systems/mpi/errors.h"

namespace fairlead::mpi {

AnytimeCall::AnytimeCall(const char* name) : name_(name), process_(Process::current()) {
  if (process_ != nullptr && process_->phase == Process::Phase::running) running_.emplace(name);
}

Process& AnytimeCall::begun_process() const {
  if (process_ == nullptr) Call::outside(name_);
  return *process_;
}

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
