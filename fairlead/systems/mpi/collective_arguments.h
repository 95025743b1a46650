// Arguments of collective calls, checked: what several of them have.
#pragma once
#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

// Bytes of a buffer, or an error raised.
struct Extent {
  std::uint64_t bytes = 0;
  int error = MPI_SUCCESS;
};
inline Extent extent(const Call& call, const Comm* comm, const void* buffer, MPI_Count count,
                     MPI_Datatype datatype, const char* which) {
  const std::uint64_t element = size_of_type(datatype);
  if (element == 0 || count < 0 || buffer == MPI_IN_PLACE || (buffer == nullptr && count > 0)) {
    return {0, call.check_data(comm, buffer, count, datatype, which)};
  }
  return {static_cast<std::uint64_t>(count) * element, MPI_SUCCESS};
}

// What this rank sends and what it receives must be of one size.
int check_same(const Call& call, const Comm* comm, std::uint64_t sent, std::uint64_t received);

// The operands of a reduction, or an error raised.
struct Reduction {
  Operand operand{};
  int error = MPI_SUCCESS;
};
Reduction reduction(const Call& call, const Comm* comm, const void* buffer, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, const char* which);

}  // namespace fairlead::mpi
