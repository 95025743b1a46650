#include "fairlead/run/join/job_exchange.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "fairlead/run/join/pmi1_exchange.h"
#include "fairlead/run/join/pmix_exchange.h"

namespace fairlead::run {

std::uint32_t JobPlace::nodes() const {
  return node_of.empty() ? 0 : *std::max_element(node_of.begin(), node_of.end()) + 1;
}

std::vector<std::uint32_t> JobPlace::ranks_of(std::uint32_t node) const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t one = 0; one < node_of.size(); ++one) {
    if (node_of[one] == node) list.push_back(one);
  }
  return list;
}

std::vector<std::uint32_t> renumbered(const std::vector<std::uint32_t>& node_of) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> list;
  for (const std::uint32_t node : node_of) {
    list.push_back(numbers.emplace(node, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return list;
}

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
