#include "fairlead/run/model_world.h"

#include <fmt/format.h>

namespace fairlead::run {

Result<RunReport> run_model_world(const WorldOptions& options, const Body&) {
  return Error{fmt::format("--on {}: this build of the library has no modelled world", options.on)};
}

Result<RunReport> run_model_processes(const LaunchOptions& launch) {
  return Error{fmt::format(
      "--on {}: {} would have to run as one process a rank, which this build cannot model; if it "
      "keeps no mutable globals run it with --body fiber",
      launch.world.on, launch.command.front())};
}

}  // namespace fairlead::run
