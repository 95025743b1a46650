// Everything the processes of a job need to know, decided and checked before the first is forked.
#pragma once
#include <signal.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/fabric/udp/seal.h"
#include "fairlead/run/context.h"
#include "fairlead/run/job/binding.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/bootstrap_messages.h"
#include "fairlead/run/wire/job_ground.h"

namespace fairlead::run {

struct ExecPlan {
  std::string program;                   // path for execve
  std::vector<std::string> arguments;    // argv
  std::vector<std::string> environment;  // "NAME=value", without what differs by rank
  std::string working_directory;         // empty: stay
};

class JobWatch;

struct JobPlan {
  WorldOptions options;
  JobGround ground;
  JobWatch* watch = nullptr;  // job.h; nullptr: the command only stands by
  Binding binding;            // of the ranks here
  // One of the two.
  const ExecPlan* exec = nullptr;
  const Body* body = nullptr;
  bool label = false;
  bool forward_signals = false;
  // Standard input is a terminal that this job is in the background of: rank 0 gets /dev/null, as
  // a read would take lines meant for the shell.
  bool stdin_is_foreign = false;
  sigset_t rank_signals{};  // mask of the ranks: the caller's before the job
  rlimit rank_files{};      // RLIMIT_NOFILE of the ranks: the caller's

  // The ranks that this node starts.
  RankRange here() const {
    return ground.here.count != 0 ? ground.here : RankRange{0, options.ranks};
  }
};

// Signals that travel from the command to the ranks.
inline constexpr int kForwardedSignals[] = {SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2};

}  // namespace fairlead::run
