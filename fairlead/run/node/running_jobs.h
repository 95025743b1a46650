// The jobs that run on this machine, and what their ranks wait in: read from outside, whatever the
// ranks do. Ranks of other hosts are seen there.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/node/rank_call.h"

namespace fairlead::run {

struct RunningRank {
  enum class State : std::uint8_t {
    unknown,  // no system of it has begun here: it has not come to that, or runs on another host
    runs,     // in no call that waits for long
    waits,    // as `call` says
    ended,    // all that it began has ended
  };
  State state = State::unknown;
  std::uint32_t pid = 0;  // 0: unknown
  CallFacts call;
};

struct RunningJob {
  pid_t pid = 0;        // of the first of its processes: where `fairlead run` started it, that one
  std::string command;  // how that was called
  std::vector<RunningRank> ranks;
};

// The job that process `pid` belongs to, or with 0 all that this user may look at. Error: there is
// no such process, it is in no job, or its job is of another version.
Result<std::vector<RunningJob>> running_jobs(pid_t pid);

}  // namespace fairlead::run
