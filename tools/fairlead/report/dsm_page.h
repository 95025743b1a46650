// The report of a program on page-based shared memory: what `fairlead run --dsm-profile=FILE` wrote
// as one HTML page. Where each rank's time went, a heat map of the heap's pages, source lines,
// false sharing, races.
#pragma once
#include <string>

#include "fairlead/base/result.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

// Error: cannot be read, is no profile or one of another version.
Result<Json> read_dsm_profile(const std::string& path);

std::string dsm_page(const Json& profile);

}  // namespace fairlead::tools
