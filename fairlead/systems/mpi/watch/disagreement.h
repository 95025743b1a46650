// What members of a communicator say of a collective that they enter together, and where that does
// not fit.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/watch/calls.h"

namespace fairlead::mpi {

// One member's call.
struct Entry {
  CallId call = CallId::count;
  int root = kNoRoot;
  // Bytes, basic type and operation that all members give alike; 0, MPI_DATATYPE_NULL (also where a
  // type is made of several) and MPI_OP_NULL where the call has no such.
  std::uint64_t bytes = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  // Bytes to and from each member, or one number for all; empty: the call has no such, or this
  // member leaves its part in place.
  std::vector<std::uint64_t> gives;
  std::vector<std::uint64_t> takes;

  // What a member of `comm`, no intercommunicator, was given for `call`.
  static Entry of(const Comm& comm, CallId call, const Given& given);
  std::vector<std::uint64_t> words() const;
  static Entry of_words(const std::vector<std::uint64_t>& words);
};

// In what the members' calls, by rank, differ that must not, with ranks and values; empty: in
// nothing. `which`: the collective's number among those of `group`.
std::string disagreement(const std::vector<Entry>& members, std::uint64_t which,
                         const std::string& group);

// "rank 3" or "ranks 0-2, 5"; in rising order.
std::string ranks_text(const std::vector<std::size_t>& ranks);

}  // namespace fairlead::mpi
