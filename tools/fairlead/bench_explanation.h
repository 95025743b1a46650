// fairlead bench --explain.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/launch/world.h"
#include "tools/fairlead/bench/bench.h"

namespace fairlead::tools {

// Runs the bench again with the largest resources of the critical path twice as fast; prints path,
// times, and (unless `json`, one line) how the bench's figures change. `rows` are those of
// `report`'s run. Error: a re-run could not be started.
Result<void> explain_bench(const Bench& bench, const BenchOptions& options,
                           const run::WorldOptions& world, const run::RunReport& report,
                           const Rows& rows, bool json);

}  // namespace fairlead::tools
