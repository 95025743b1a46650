// The second pass of fairlead-splitcc: the front end types what the first one made, and every
// access to a global place becomes a word of translated.h.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/splitcc/tokens.h"

namespace fairlead::splitcc {

// C for the system's compiler. Error: what the front end and this pass have to say, a line each,
// "FILE:LINE: error: reason".
Result<std::string> to_c(const PlainC& program);

}  // namespace fairlead::splitcc
