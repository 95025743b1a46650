// A job of processes on this machine's shared memory, seen from the command: makes the memory,
// forks the guardian, forwards signals, and stands in should the guardian be killed.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/job_plan.h"
#include "fairlead/run/world.h"

namespace fairlead::run {

// `plan.options` are for shm and checked; binding, rank_signals, rank_files and stdin_is_foreign
// are filled in here. Threads and children: see launcher.h.
Result<RunReport> run_job(JobPlan plan);

}  // namespace fairlead::run
