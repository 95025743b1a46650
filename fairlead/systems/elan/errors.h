// How a call of the program's ends the job when it cannot be right.
#pragma once
#include <string>

#include "fairlead/run/context.h"

namespace fairlead::elan {

// "Elan: elan_put: <what>", with the rank's number before it.
[[noreturn]] void fail(run::Context& context, const char* call, const std::string& what);

}  // namespace fairlead::elan
