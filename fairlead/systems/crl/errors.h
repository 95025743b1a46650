// How a call of the program's ends the job when it cannot be right.
#pragma once
#include <string>

#include "fairlead/run/context.h"
#include "fairlead/systems/crl/message.h"

namespace fairlead::crl {

// A call of the public interface: its name and where the program made it.
struct Caller {
  const char* name;
  const void* address;
};

// "rgn_end_read of region 7, called at hello+0x1a2b: <what>", with the rank's number before it.
[[noreturn]] void fail(run::Context& context, const Caller& caller, Rid rid,
                       const std::string& what);
// As above, for no region in particular.
[[noreturn]] void fail(run::Context& context, const Caller& caller, const std::string& what);

}  // namespace fairlead::crl
