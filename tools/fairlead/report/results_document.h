// The results document (docs/results-format.md) as the report reads it: a file from outside, whose
// keys may be missing or of another kind.
#pragma once
#include <string>

#include "fairlead/base/result.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

// Error: cannot be read, is no results document or one of another version.
Result<Json> read_results(const std::string& path);

}  // namespace fairlead::tools
