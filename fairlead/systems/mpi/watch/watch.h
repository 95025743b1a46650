// What watches the calls of one rank: before and after each, for a profile of the job (profile.h)
// and for checks of what the calls are given (checks.h).
#pragma once
#include <memory>
#include <mutex>

#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/watch/calls.h"
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
  int before(CallId call, const Given& given);
  void after(CallId call, const Given& given, int answer, Ps took);

 private:
  void finish();

  Process& process_;
  const WatchOptions options_;
  // Several threads of a rank may call. Nothing waits for a message while it is held.
  std::mutex mutex_;
  std::unique_ptr<Profile> profile_;
};

}  // namespace fairlead::mpi
