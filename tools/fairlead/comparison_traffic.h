// Who sends how much to whom in an MPI program, and in messages of which sizes: part of compare's
// page.
#pragma once
#include <string>

#include "tools/fairlead/json.h"

namespace fairlead::tools {

// From a profile (`fairlead run --profile=FILE`, docs/results-format.md); empty: it is none.
std::string traffic_html(const Json& profile);

}  // namespace fairlead::tools
