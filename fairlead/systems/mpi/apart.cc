#include "fairlead/systems/mpi/apart.h"

namespace fairlead::mpi {

int fail_apart(const Call& call, const Comm* comm) {
  return call.fail(comm, MPI_ERR_BUFFER,
                   "what is sent and what is received begin at one address; buffers must be apart, "
                   "or the call in place (MPI_IN_PLACE)");
}

}  // namespace fairlead::mpi
