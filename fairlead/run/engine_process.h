// The process of one node's NI engine (--lci nirx): started by the guardian before the ranks,
// ended by it after them.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/engine/queues.h"
#include "fairlead/run/job_plan.h"

namespace fairlead::run {

struct EngineProcess {
  pid_t pid = 0;
  // The guardian's end of its socket: an AbortNote says why it ends the job, an AddressNote where
  // it is on the network, for the nodes of other hosts.
  Fd life;
  Fd bell;  // eventfd: ranks wake it
};

// Which ranks are whose. On several hosts every host is a node, so that ranks_per_node is given.
fabric::engine::Nodes nodes_of(const WorldOptions& options);
bool has_engines(const WorldOptions& options);

// The engine has the guardian's signal mask and dies with it (PDEATHSIG). `close_inherited` closes
// what the guardian has open. Error: the kernel refused a process, a socket or an eventfd.
Result<EngineProcess> start_engine(const JobPlan& plan, Peer node,
                                   const std::function<void()>& close_inherited);

}  // namespace fairlead::run
