// The world without time: every rank a fiber of this thread, in turn.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/context.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {

// Ranks run round robin, each until it waits. options.timeout is looked at between turns: a rank
// that computes forever is not ended by it. Error: options that loop does not carry.
Result<RunReport> run_loop_world(const WorldOptions& options, const Body& body);

}  // namespace fairlead::run
