// Runs a body on every rank of a job, in either world: forked processes on shared memory, fibers
// of this thread on `loop` and on the modelled platforms. The launcher, the benches and the tests
// all start here.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/context.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {

// Blocks until every rank has ended. Error: the job could not be started as asked.
Result<RunReport> run_world(const WorldOptions& options, const Body& body);

}  // namespace fairlead::run
