// How a rank that another launcher started joins its job.
#pragma once
#include <memory>

#include "fairlead/base/result.h"
#include "fairlead/run/node/job_exchange.h"
#include "fairlead/run/rank/rank_context.h"

namespace fairlead::run {

// The address of this host that ranks of other hosts use, where the first one of its interfaces
// that is up is the wrong one.
inline constexpr const char kAddressVariable[] = "FAIRLEAD_ADDRESS";

// Joins the job: the ranks of this node share memory that its leader makes; those of several nodes
// reach each other by a network. Blocks until all ranks of the job have come.
Result<std::unique_ptr<RankContext>> join_launched(std::unique_ptr<JobExchange> exchange);

}  // namespace fairlead::run
