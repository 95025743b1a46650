// The modelled world behind run_world(): every rank a fiber of this thread, in virtual time on the
// platform that options.on names.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/world.h"

namespace fairlead::run {

// Runs `body` on options.ranks ranks until each has returned. Before a fiber runs its rank is
// current() (set_current on each switch). The report has modelled = true, virtual_time, events,
// digest and the summed counters; a deadlock (no event left, ranks waiting) is a failure whose text
// holds every rank's wait and its virtual time, with a non-zero exit code. abort_job() of a rank
// ends the world with that code and reason. Error: no such platform, a faulty platform file, an
// implementation the platform does not carry.
Result<RunReport> run_model_world(const WorldOptions& options, const Body& body);

}  // namespace fairlead::run
