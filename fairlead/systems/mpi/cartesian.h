// Cartesian topologies: ranks in row-major order.
#pragma once
#include <cstddef>
#include <vector>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

struct Cartesian {
  std::vector<int> dims;
  std::vector<bool> periodic;

  int dimensions() const { return static_cast<int>(dims.size()); }
  int dim(int i) const { return dims[static_cast<std::size_t>(i)]; }
  bool is_periodic(int i) const { return periodic[static_cast<std::size_t>(i)]; }
  int size() const {
    int product = 1;
    for (const int each : dims) product *= each;
    return product;
  }
  std::vector<int> coordinates(int rank) const {
    std::vector<int> of(dims.size());
    for (std::size_t i = dims.size(); i-- > 0; rank /= dims[i]) of[i] = rank % dims[i];
    return of;
  }
  // MPI_PROC_NULL: beyond the edge of a dimension that is not periodic.
  int rank(const int* coords) const {
    int answer = 0;
    for (int i = 0; i < dimensions(); ++i) {
      int at = coords[i];
      if (at < 0 || at >= dim(i)) {
        if (!is_periodic(i)) return MPI_PROC_NULL;
        at = (at % dim(i) + dim(i)) % dim(i);
      }
      answer = answer * dim(i) + at;
    }
    return answer;
  }
};

}  // namespace fairlead::mpi
