// The clocks a modelled rank's program reads beside MPI_Wtime: virtual from the moment it joins,
// through a small preloaded library (clock/clock.c).
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "fairlead/fabric/model/gate_client.h"
#include "fairlead/run/rank/clock/clock.h"

namespace fairlead::run {

class VirtualClock {
 public:
  // The calling thread is the rank: its reads and sleeps take virtual time, so that a loop on
  // either ends, and one that also waits for what a peer writes sees it, some reads late. Its
  // process's other threads see the time of the rank's last look, and sleep for real. `gate`
  // outlives it, and it the process's last clock call. Without the preloaded library nothing
  // changes.
  static std::unique_ptr<VirtualClock> install(fabric::model::GateClient& gate);

 private:
  explicit VirtualClock(fabric::model::GateClient& gate);
  static int now(void* self, std::int64_t* nanoseconds);
  static int sleep(void* self, std::int64_t nanoseconds);
  void catch_up();

  fabric::model::GateClient& gate_;
  pid_t process_;
  pid_t thread_;
  FairleadClock table_;
  std::uint64_t looks_ = 0;       // in a row, without anything that the machine answered between
  std::int64_t answered_ps_ = 0;  // its last answer's time
};

// Adds the library, which lies beside libfairlead, to what the ranks of `environment` preload;
// leaves it where there is none (sanitizer builds).
void preload_virtual_clock(std::vector<std::string>& environment);

}  // namespace fairlead::run
