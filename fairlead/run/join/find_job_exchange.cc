#include "fairlead/run/join/find_job_exchange.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "fairlead/run/join/pmi1_exchange.h"
#include "fairlead/run/join/pmix_exchange.h"

namespace fairlead::run {

Result<std::unique_ptr<JobExchange>> find_job_exchange() {
  if (std::getenv("PMIX_RANK") != nullptr) return pmix_exchange();
  if (std::getenv("PMI_FD") != nullptr) return pmi1_exchange();
  if (std::getenv("PMI_PORT") != nullptr && std::getenv("PMI_ID") != nullptr) {
    return Error{
        "this process was started by a launcher that wants to be called (PMI_PORT): start it "
        "without -pmi-port"};
  }
  return std::unique_ptr<JobExchange>();
}

}  // namespace fairlead::run
