// What watches the calls of one rank: before and after each, for a profile of the job (profile.h)
// and for checks of what the calls are given (checks.h).
#pragma once
#include <memory>
#include <mutex>

#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/watch/calls.h"
#include "fairlead/systems/mpi/watch/checks.h"
#include "fairlead/systems/mpi/watch/options.h"
#include "fairlead/systems/mpi/watch/profile.h"

namespace fairlead::mpi {

class Watch {
 public:
  Watch(Process& process, const WatchOptions& options);

  // Has the calls of `process` watched from now on, if the environment asks for it.
  static void start(Process& process);
  // nullptr: nobody watches the rank, or MPI is not running.
  static Watch* current();

  Ps now() const { return process_.context().port().now(); }
  // An MPI error class, raised: the call is not to be made.
  int before(CallId call, const Given& given, CallState& state);
  void after(CallId call, const Given& given, int answer, Ps took, const CallState& state);
  // All ranks call it where the program has nothing to do any more, in MPI_Finalize.
  void finish();

 private:
  Process& process_;
  const WatchOptions options_;
  // Several threads of a rank may call: held while the profile counts.
  std::mutex mutex_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Checks> checks_;  // under the lock of calls
};

}  // namespace fairlead::mpi
