// Where what the members of a communicator say of a collective (entry.h) does not fit.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/systems/mpi/watch/entry.h"

namespace fairlead::mpi {

// The members of a communicator, as texts name them.
struct Members {
  std::string group;        // the communicator, or the window
  bool has_groups = false;  // an intercommunicator: its members are those of both groups
  // What each member is called, where that is not its rank: its rank in the job.
  std::vector<Rank> ranks = {};
};

// In what the members' calls, by rank, differ that must not, with ranks and values; empty: in
// nothing. `which`: the collective's number among those of the communicator.
std::string disagreement(const std::vector<Entry>& entries, std::uint64_t which,
                         const Members& members);

// "rank 3" or "ranks 0-2, 5"; in rising order.
std::string ranks_text(const std::vector<std::size_t>& ranks);
// As above, by the names that the members have.
std::string members_text(const Members& members, const std::vector<std::size_t>& which);

}  // namespace fairlead::mpi
