// A comparison as a page of its own: where the time of each run goes.
#pragma once
#include <string>
#include <vector>

#include "tools/fairlead/comparison.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

// A whole HTML document, without script and network: a bar a run, in the order of the outcomes; of
// a modelled run it is divided into the resources of its critical path. Below it the tables and
// sentences of comparison_text, and from `profile` who sends to whom (comparison_traffic.h).
std::string comparison_page(const std::vector<Outcome>& outcomes,
                            const std::vector<std::string>& program, std::uint32_t ranks,
                            const Json& profile);

}  // namespace fairlead::tools
