#include "fairlead/systems/elan/errors.h"

#include <fmt/format.h>

#include <cstdlib>

namespace fairlead::elan {

void fail(run::Context& context, const char* call, const std::string& what) {
  context.abort_job(1, fmt::format("Elan: {}: {}", call, what));
  std::abort();  // GCC forgets that a virtual function does not return
}

}  // namespace fairlead::elan
