// The exchange with a launcher that speaks PMIx, through the system's libpmix: Open MPI's mpirun,
// srun --mpi=pmix.
#pragma once
#include <memory>

#include "fairlead/base/result.h"
#include "fairlead/run/node/job_exchange.h"

namespace fairlead::run {

// As the PMIX_ variables say. Loads libpmix.so.2 for good: its threads may outlive any use.
Result<std::unique_ptr<JobExchange>> pmix_exchange();

}  // namespace fairlead::run
