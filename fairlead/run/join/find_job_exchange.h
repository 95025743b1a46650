// Which launcher started this process, and the exchange that speaks its protocol.
#pragma once
#include <memory>

#include "fairlead/base/result.h"
#include "fairlead/run/node/job_exchange.h"

namespace fairlead::run {

// The exchange with the launcher that started this process, as its environment says: PMIx
// (PMIX_RANK), else PMI-1 (PMI_FD); nullptr: neither, the process was started alone. Error: it was
// started by a launcher that cannot be talked to.
Result<std::unique_ptr<JobExchange>> find_job_exchange();

}  // namespace fairlead::run
