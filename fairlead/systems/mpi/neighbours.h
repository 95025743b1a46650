// Whom a member of a topology exchanges data with in neighborhood collectives.
#pragma once
#include <vector>

#include "fairlead/systems/mpi/comm.h"

namespace fairlead::mpi {

// Ranks in the order of the blocks of a call's buffers; MPI_PROC_NULL beyond the edge of a grid.
struct Neighbours {
  std::vector<int> sources;
  std::vector<int> destinations;
  // The places of `destinations` in the order in which messages leave. In a ring of one or two
  // members both neighbors are one process: what goes forward comes from behind, so that there the
  // message forward is the first (MPI 5.0, section 8.6).
  std::vector<int> order;
};

// `comm` has a topology.
Neighbours neighbours_of(const Comm& comm);
inline bool has_topology(const Comm& comm) {
  return comm.cartesian != nullptr || comm.graph != nullptr;
}

}  // namespace fairlead::mpi
