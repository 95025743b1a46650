// The process of one node's NI engine (--lci nirx): started by the guardian before the ranks,
// ended by it after them; or, where another launcher started the ranks, by the first of them, and
// ended with the last.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/engine/queues.h"
#include "fairlead/run/job/job_plan.h"
#include "fairlead/run/wire/network.h"

namespace fairlead::run {

// What an engine is told, whoever starts it.
struct EnginePlan {
  WorldOptions options;
  JobGround ground;
  WaitPlan wait;
  Peer node = 0;
};

struct EngineProcess {
  pid_t pid = 0;
  // The guardian's end of its socket: an AbortNote says why it ends the job, an AddressNote where
  // it is on the network, for the nodes of other hosts.
  Fd life;
  Fd bell;  // eventfd: ranks wake it
};

// The engine has the guardian's signal mask and dies with it (PDEATHSIG). `close_inherited` closes
// what the guardian has open. Error: the kernel refused a process, a socket or an eventfd.
Result<EngineProcess> start_engine(const JobPlan& plan, Peer node,
                                   const std::function<void()>& close_inherited);

// An engine without a guardian.
struct LoneEngine {
  std::uint32_t pid = 0;
  Fd bell;
  RankCard where;  // for the engines of other nodes
};

// Starts one that is nobody's child, in a session of its own; it ends when the processes of all
// `ranks` of its node have. When it ends before, its status says why. Blocks until it is at work.
// Error: it cannot be.
Result<LoneEngine> start_lone_engine(const EnginePlan& plan, std::span<const std::uint32_t> ranks);

}  // namespace fairlead::run
