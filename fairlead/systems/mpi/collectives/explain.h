// The table of the collectives' algorithms (algorithms.h) as it applies to a job, for its user:
// `fairlead run --explain`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/collectives/algorithms.h"

namespace fairlead::mpi {

class Process;

// The sizes first..last, in bytes, that one algorithm serves.
struct AlgorithmRow {
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};  // as `last`: and all above
  std::uint64_t first;
  std::uint64_t last;
  Algorithm algorithm;
};

// From one byte on, without gaps; neighbours differ.
std::vector<AlgorithmRow> rows_of(Collective collective, const CollectivePlace& place);

// One line a row, below a line that says what kind of place it is.
std::string explanation_of(const CollectivePlace& place);

// What the members of MPI_COMM_WORLD can do, as far as they have found out by their collectives;
// where they have not, as this rank sees it, without a message.
CollectivePlace place_of(Process& process);

// At rank 0, where the user asks for it (WatchOptions::kExplainVariable): writes explanation_of()
// to the standard error stream.
void explain_collectives(Process& process);

}  // namespace fairlead::mpi
