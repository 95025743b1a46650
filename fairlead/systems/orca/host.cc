#include "fairlead/systems/orca/host.h"

#include <fmt/format.h>

#include <cstdlib>

namespace fairlead::orca {

void Host::fatal(const std::string& reason) {
  context.abort_job(1, "Orca: " + reason);
  std::abort();
}

void Host::malformed(Rank source, const char* what) {
  fatal(fmt::format("rank {} sent a {} that is none", source, what));
}

}  // namespace fairlead::orca
