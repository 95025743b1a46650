#include "fairlead/systems/mpi/call.h"

#include <cstdio>
#include <cstdlib>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/errors.h"

namespace fairlead::mpi {

constexpr std::uint64_t kBytesMax = ~std::uint64_t{0} >> 1;

void exit_with(const std::string& reason) {
  std::fprintf(stderr, "fairlead: %s\n", reason.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

void Call::outside(const char* name) {
  const Process* process = Process::current();
  const std::string reason = process == nullptr
                                 ? fmt::format("{} was called before MPI_Init", name)
                                 : fmt::format("{} was called after MPI_Finalize", name);
  if (run::Context* context = run::current(); context != nullptr) {
    end_job(*context, MPI_ERR_OTHER, reason);
  }
  exit_with(reason);
}

int Call::fail(const Comm* comm, int error, const std::string& what) const {
  const Comm& on = comm != nullptr ? *comm : process_->judge();
  if (on.handler == MPI_ERRORS_RETURN) return error;
  const ErrorClass* known = find_error(error);
  const std::string class_text =
      known != nullptr ? fmt::format(" ({}: {})", known->name, known->text) : std::string();
  return raise(
      on, error,
      fmt::format("{} failed on rank {} of {}: {}{}", name_, on.rank, on.name, what, class_text));
}

int Call::raise(const Comm& on, int error, const std::string& text) const {
  if (on.handler == MPI_ERRORS_RETURN) return error;
  if (const ErrorHandler* made = Objects<ErrorHandler>::find(on.handler); made != nullptr) {
    MPI_Comm handle = process_->known_as(on);
    int code = error;
    run_outside([&] {
      made->function(&handle, &code);
      return 0;
    });
    return error;
  }
  end_job(process_->context(), error, text);
}

int Call::check_comm(MPI_Comm handle) const {
  if (process_->find(handle) != nullptr) return MPI_SUCCESS;
  return fail(
      nullptr, MPI_ERR_COMM,
      fmt::format("comm is {}", handle == MPI_COMM_NULL
                                    ? "MPI_COMM_NULL"
                                    : "no communicator of this library, or one that was freed"));
}

int Call::check_data(const Comm* comm, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                     const char* which) const {
  if (count < 0) {
    return fail(comm, MPI_ERR_COUNT, fmt::format("{}count is {}, which is negative", which, count));
  }
  const TypeBody* const body = find_body(datatype);
  if (body == nullptr || !is_committed(datatype)) {
    return fail(
        comm, MPI_ERR_TYPE,
        fmt::format("{}datatype is {}", which,
                    body != nullptr                 ? "not committed"
                    : datatype == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL"
                                                    : "no datatype, or one that was freed"));
  }
  if (body->size() != 0 && static_cast<std::uint64_t>(count) > kBytesMax / body->size()) {
    return fail(comm, MPI_ERR_COUNT,
                fmt::format("{}count is {}, of elements of {} bytes: no memory holds them", which,
                            count, body->size()));
  }
  // A type that a program made may have displacements that are addresses.
  if (buffer == nullptr && count > 0 && body->named != MPI_DATATYPE_NULL) {
    return fail(comm, MPI_ERR_BUFFER,
                fmt::format("{}buf is a null pointer, but {}count is {}", which, which, count));
  }
  if (buffer == MPI_IN_PLACE) {
    return fail(comm, MPI_ERR_BUFFER, fmt::format("{}buf may not be MPI_IN_PLACE here", which));
  }
  return MPI_SUCCESS;
}

int Call::check_rank(const Comm* comm, int rank, const char* which, bool wildcard) const {
  if (rank == MPI_PROC_NULL || (rank >= 0 && rank < comm->size) ||
      (wildcard && rank == MPI_ANY_SOURCE)) {
    return MPI_SUCCESS;
  }
  return fail(comm, MPI_ERR_RANK,
              fmt::format("{} is {}, but the ranks are 0 to {}", which, rank, comm->size - 1));
}

int Call::check_tag(const Comm* comm, int tag, bool wildcard) const {
  if (tag >= 0 || (wildcard && tag == MPI_ANY_TAG)) return MPI_SUCCESS;
  return fail(comm, MPI_ERR_TAG, fmt::format("tag is {}, which is negative", tag));
}

int Call::check_root(const Comm* comm, int root) const {
  if (root >= 0 && root < comm->size) return MPI_SUCCESS;
  return fail(comm, MPI_ERR_ROOT,
              fmt::format("root is {}, but the ranks are 0 to {}", root, comm->size - 1));
}

}  // namespace fairlead::mpi
