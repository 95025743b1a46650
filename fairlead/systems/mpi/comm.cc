#include "fairlead/systems/mpi/comm.h"

#include <algorithm>

namespace fairlead::mpi {

void Comm::index_members() {
  ranks.clear();
  for (std::size_t i = 0; i < members.size(); ++i) {
    ranks.emplace_back(members[i], static_cast<int>(i));
  }
  std::sort(ranks.begin(), ranks.end());
}

bool Comm::has_local(Rank member) const {
  if (both == nullptr) return members.empty() || has(member);
  const int r = both->rank_of(member);
  return r != MPI_UNDEFINED && r >= local_first && r < local_first + local_size();
}

int Comm::find(Rank member) const {
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), std::pair(member, 0));
  return found != ranks.end() && found->first == member ? found->second : MPI_UNDEFINED;
}

}  // namespace fairlead::mpi
