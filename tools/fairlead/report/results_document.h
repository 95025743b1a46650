// The results document (docs/results-format.md) as the report reads it: a file from outside, whose
// keys may be missing or of another kind; the answer then is an empty one.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::tools {

using Json = nlohmann::ordered_json;

// Error: cannot be read, is no results document or one of another version.
Result<Json> read_results(const std::string& path);

std::string text_at(const Json& object, const char* key);
std::optional<double> number_at(const Json& object, const char* key);
std::optional<bool> flag_at(const Json& object, const char* key);
// An array or an object; empty where there is none.
const Json& part_at(const Json& object, const char* key);

}  // namespace fairlead::tools
