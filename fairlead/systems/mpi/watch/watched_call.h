// What the entry points go by where somebody watches the calls (--profile, --check).
#pragma once
#include <atomic>

#include "fairlead/base/units.h"
#include "fairlead/systems/mpi/watch/calls.h"
#include "fairlead/systems/mpi/watch/checks.h"

namespace fairlead::mpi {

class Watch;

// Whether any rank of this process is watched. It belongs to no rank because the entry points ask
// before they know theirs: those whose ranks are not watched pay for one load and one branch.
[[gnu::visibility("hidden")]] extern constinit std::atomic<bool> any_watched;
inline bool is_watched() {
  return __builtin_expect(any_watched.load(std::memory_order_relaxed), false);
}

// One call of a rank, which may be watched or not.
class WatchedCall {
 public:
  WatchedCall(CallId call, const Given& given);
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  // An MPI error class, raised: the call is not to be made.
  int error() const { return error_; }
  // The call has returned `answer`; returns it.
  int end(int answer);

 private:
  const CallId call_;
  const Given& given_;
  Watch* const watch_;  // nullptr: this rank is not watched
  int error_ = MPI_SUCCESS;
  Ps begun_{};
  CallState state_;
};

}  // namespace fairlead::mpi
