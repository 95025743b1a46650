// Groups: ordered sets of the job's ranks.
#pragma once
#include <algorithm>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

struct Group : Object {
  std::vector<Rank> members;  // job rank by rank here

  int size() const { return static_cast<int>(members.size()); }
  Rank job_rank(int r) const { return members[static_cast<std::size_t>(r)]; }
  // MPI_UNDEFINED: not a member.
  int rank_of(Rank member) const {
    const auto found = std::find(members.begin(), members.end(), member);
    return found == members.end() ? MPI_UNDEFINED : static_cast<int>(found - members.begin());
  }
  bool has(Rank member) const { return rank_of(member) != MPI_UNDEFINED; }
};

}  // namespace fairlead::mpi
