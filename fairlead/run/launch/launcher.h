// Runs a program on every rank of a job: what `fairlead run` does once its command line is read.
// docs/ARCHITECTURE.md draws the processes: command -> guardian -> ranks.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/launch_options.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {

// Runs the job to its end. Rank 0 has this process's standard input, the others /dev/null; output
// goes to this process's. At the first failure (a signal, an exit code other than 0, an exit
// between began() and ended(), abort_job(), the timeout) every process of the job, children of
// ranks included, is killed, and `failure` of the report names rank and cause: the caller prints
// it. The report's exit code is the first failing rank's, 128 + signal for one that a signal ended.
// Thread: blocks the calling one, which must be the only one that starts child processes
// meanwhile; orphans of the job become children of this process for a moment.
// Error: the job could not be started as asked (unknown world, no such program, ...).
Result<RunReport> launch(const LaunchOptions& options);

}  // namespace fairlead::run
