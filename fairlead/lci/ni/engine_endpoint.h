// A rank whose network interface is an NI engine (nirx): the queues to it, and the port the
// modelled ranks have.
#pragma once
#include <memory>

#include "fairlead/base/result.h"
#include "fairlead/fabric/engine/host_ni.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/lci/client/wake_helper.h"
#include "fairlead/lci/rank_endpoint.h"

namespace fairlead::lci {

// `job` outlives it. Blocks until the node's engine is at work. Error: it is not, and why.
Result<std::unique_ptr<RankEndpoint>> make_engine_endpoint(
    fabric::ShmJob& job, const fabric::engine::HostOptions& options, const WakeHooks& wake = {});

}  // namespace fairlead::lci
