// Addresses as integers.
#include <cstdint>

#include "fairlead/systems/mpi/calls.h"

namespace fairlead::mpi::api {

// Wraps as addresses do, without the undefined behaviour of signed overflow.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}

MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                               static_cast<std::uintptr_t>(addr2));
}

}  // namespace fairlead::mpi::api
