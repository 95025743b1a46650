// Blocks of one length, one after the other, as the arrays of a call with blocks of several.
#pragma once
#include <cstddef>
#include <vector>

#include "fairlead/systems/mpi/collective_arguments.h"

namespace fairlead::mpi {

class SameBlocks {
 public:
  SameBlocks(const void* buffer, MPI_Count count, MPI_Datatype type, const char* which, int blocks)
      : counts_(static_cast<std::size_t>(blocks), count),
        buffer_(buffer),
        type_(type),
        which_(which) {
    for (int i = 0; i < blocks; ++i) {
      // A negative count is told by the check of the arrays.
      places_.push_back(count < 0 ? 0 : i * count);
    }
  }
  // Valid as long as this object lives and stays where it is.
  Arrays arrays() const {
    return {buffer_, Counts(counts_.data()), Counts(places_.data()), nullptr, type_, which_};
  }

 private:
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Count> places_;
  const void* buffer_;
  MPI_Datatype type_;
  const char* which_;
};

}  // namespace fairlead::mpi
