// A job of several hosts, seen from the command: an agent on each (node_agent.h), what passes
// between them, and one report at the end.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/job/job_plan.h"
#include "fairlead/run/launch_options.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {

// An agent that says nothing for so long is lost, and its host with it.
constexpr int kHostSilenceMs = 5'000;

// As launch(), for options.hosts.list, whose ranks sum up to options.world.ranks. Standard input is
// passed on to rank 0; output of the ranks comes to this process's. Error: a host cannot be reached
// or has another Fairlead; nothing runs then.
Result<RunReport> run_on_hosts(const LaunchOptions& options, const ExecPlan& exec);

}  // namespace fairlead::run
