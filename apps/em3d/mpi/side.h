// One kind's nodes of this rank in MPI: their values, the copies of the other kind's nodes that
// their edges need, and what other ranks need of them.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "apps/em3d/part.h"

namespace em3d {

class Side {
 public:
  Side(const Shape& shape, Kind kind, std::uint32_t rank);

  // By all ranks: who needs which of this side's nodes, as the other side's edges say.
  void learn(const Side& needy);
  // By all ranks: brings the values of the nodes that this side's edges need, whose side is `from`.
  void fetch(Side& from);
  // New values of this rank's nodes.
  void compute(const Side& from) { part_.compute(values_, from.values_.data(), copies_.data()); }

  std::span<const double> values() const { return values_; }

 private:
  std::uint32_t needed_by(std::uint32_t rank) const {
    return needed_at_[rank + 1] - needed_at_[rank];
  }

  std::uint32_t ranks_;
  Part part_;
  std::vector<double> values_;
  std::vector<double> copies_;
  // What other ranks need: rank r's nodes are those from needed_at_[r] on, packed_ has their
  // values.
  std::vector<std::uint32_t> needed_;
  std::vector<std::uint32_t> needed_at_;
  std::vector<double> packed_;
  std::vector<MPI_Request> requests_;
};

}  // namespace em3d
