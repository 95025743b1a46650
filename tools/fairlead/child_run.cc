#include "tools/fairlead/child_run.h"

#include <fmt/format.h>

#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {

std::vector<std::string> child_command(const ChildRun& run, const std::string& stats) {
  const run::WorldOptions& world = run.choice.world;
  std::vector<std::string> command = {own_path(),
                                      "run",
                                      fmt::format("--ranks={}", world.ranks),
                                      "--on=" + run.on,
                                      "--bind=" + world.bind,
                                      fmt::format("--seed={}", world.seed),
                                      fmt::format("--stack-kib={}", world.fiber_stack_kib),
                                      "--compute=" + run.choice.compute,
                                      "--body=" + run.body,
                                      "--stats=" + stats};
  if (!run.lci.empty()) command.push_back("--lci=" + run.lci);
  if (!run.faster.empty()) command.push_back("--faster=" + run.faster);
  if (!run.explain.empty()) command.push_back("--explain=" + run.explain);
  if (world.ranks_per_node > 0) {
    command.push_back(fmt::format("--ranks-per-node={}", world.ranks_per_node));
  }
  if (!world.topology.empty()) command.push_back("--topology=" + world.topology);
  if (!run.choice.background.empty()) command.push_back("--background=" + run.choice.background);
  for (const std::string& change : world.set) command.push_back("--set=" + change);
  if (!world.faults.empty()) command.push_back("--faults=" + world.faults);
  if (run.choice.timeout_s > 0) {
    command.push_back(fmt::format("--timeout={}", run.choice.timeout_s));
  }
  if (!run.working_directory.empty()) command.push_back("--wdir=" + run.working_directory);
  for (const std::string& variable : run.environment) {
    command.push_back("-x");
    command.push_back(variable);
  }
  command.insert(command.end(), run.program.begin(), run.program.end());
  return command;
}

}  // namespace fairlead::tools
