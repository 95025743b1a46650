#include "fairlead/systems/mpi/unsupported.h"

#include <fmt/format.h>

#include "fairlead/systems/mpi/call.h"

namespace fairlead::mpi {
namespace {

constexpr const char* kWhat = "this library does not have the call; docs/mpi.md lists those it has";

}  // namespace

int unsupported(const char* name, MPI_Comm comm) {
  const Process* const process = Process::current();
  if (process == nullptr || process->phase != Process::Phase::running) {
    const std::string reason = fmt::format("{}: {}", name, kWhat);
    if (run::Context* const context = run::current(); context != nullptr) {
      end_job(*context, MPI_ERR_UNSUPPORTED_OPERATION, reason);
    }
    exit_with(reason);
  }
  const Call call(name);
  return call.fail(call.process().find(comm), MPI_ERR_UNSUPPORTED_OPERATION, kWhat);
}

int unsupported(const char*, MPI_File) { return MPI_ERR_UNSUPPORTED_OPERATION; }

int unsupported(const char* name, MPI_Errhandler handler) {
  return handler == MPI_ERRORS_RETURN ? MPI_ERR_UNSUPPORTED_OPERATION : unsupported(name);
}

int tool_unsupported(const char*) { return MPI_T_ERR_NOT_SUPPORTED; }

}  // namespace fairlead::mpi
