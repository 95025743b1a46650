// What one member of a communicator says of a collective that it enters (agreement.h).
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/mpi/comm.h"
#include "fairlead/systems/mpi/watch/calls.h"
#include "fairlead/systems/mpi/watch/epochs.h"

namespace fairlead::mpi {

struct Entry {
  // A member of an intercommunicator that gives MPI_PROC_NULL as the root has no data.
  static constexpr std::uint64_t kNoBytes = ~std::uint64_t{0};

  CallId call = CallId::count;
  bool waits = false;  // the member goes on when the first one lets it
  int root = kNoRoot;
  // In an intercommunicator, the member's group, 0 or 1, and its rank there.
  int group = 0;
  int place = 0;
  int modes = 0;  // MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED, of a fence
  // Bytes, basic type and operation that all members give alike; 0, MPI_DATATYPE_NULL (also where a
  // type is made of several) and MPI_OP_NULL where the call has no such.
  std::uint64_t bytes = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  // Basic types that fit by pair of members instead.
  MPI_Datatype gives_type = MPI_DATATYPE_NULL;
  MPI_Datatype takes_type = MPI_DATATYPE_NULL;
  // Bytes to and from each member, or one number for all; empty: the call has no such, or this
  // member leaves its part in place.
  std::vector<std::uint64_t> gives;
  std::vector<std::uint64_t> takes;
  // In a collective of neighbors, whom each of `gives` goes to and each of `takes` comes from, in
  // the order in which the messages of two members are matched.
  std::vector<int> to;
  std::vector<int> from;
  // At a collective of a window, what this member has accessed since the one before.
  std::vector<Access> accesses;

  // What a member of `comm` was given for `call`. A communicator without a topology has no
  // neighbors.
  static Entry of(const Comm& comm, CallId call, const Given& given);
  std::vector<std::uint64_t> words() const;
  static Entry of_words(const std::vector<std::uint64_t>& words);
};

// Operations that programs make are not told apart: each stands as this one.
inline MPI_Op user_operation_of_checks() { return reinterpret_cast<MPI_Op>(std::uintptr_t{1}); }

}  // namespace fairlead::mpi
