// The modelled world behind run_world() and launch(): ranks in virtual time on a platform.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/context.h"
#include "fairlead/run/launch_options.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {

// Every rank a fiber of this thread. options.on is the path of the platform's file.
// Runs `body` on options.ranks ranks until each has returned. Before a fiber runs its rank is
// current() (set_current on each switch). The report has modelled = true, virtual_time, events,
// digest and the summed counters; a deadlock (no event left, ranks waiting) is a failure whose text
// holds every rank's wait and its virtual time, with a non-zero exit code. abort_job() of a rank
// ends the world with that code and reason. Error: no such platform, a faulty platform file, an
// implementation the platform does not carry.
Result<RunReport> run_model_world(const WorldOptions& options, const Body& body);

// Every rank a process that runs `launch.command`, the binary as it is; its time is the model's.
// launch.world.on is the path of the platform's file. Report and errors as above.
Result<RunReport> run_model_processes(const LaunchOptions& launch);

// The rank whose distance from rank 0 is nearest the mean over all pairs of a platform of
// options.ranks nodes: the partner of a two-rank measurement that stands for the whole machine.
// ranks / 2 where options.on (a name or a file) is not a modelled platform.
Rank mean_partner(const WorldOptions& options);

}  // namespace fairlead::run
