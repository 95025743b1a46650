// What watches the calls of a job's ranks, as its user asked. Every rank has the same options.
#pragma once
#include <string>

namespace fairlead::mpi {

struct WatchOptions {
  static constexpr const char kProfileVariable[] = "FAIRLEAD_MPI_PROFILE";
  static constexpr const char kCheckVariable[] = "FAIRLEAD_MPI_CHECK";
  // Not empty: rank 0 prints which algorithms the job's collectives have (collectives/explain.h).
  static constexpr const char kExplainVariable[] = "FAIRLEAD_MPI_EXPLAIN";
  static constexpr const char kText[] = "-";  // as a profile: on the standard error stream

  // Where rank 0 writes the profile of the job: kText, or the name of a file that gets it as JSON.
  // Empty: there is none.
  std::string profile;
  bool check = false;

  // From the environment; "0" and an empty text of kCheckVariable are no.
  static WatchOptions read();
  bool any() const { return check || !profile.empty(); }
};

}  // namespace fairlead::mpi
