#include "tools/fairlead/child_run.h"

#include <fmt/format.h>

#include "fairlead/run/option_table.h"
#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {

std::vector<std::string> child_command(const ChildRun& run, const std::string& stats) {
  std::vector<std::string> command = {own_path(), "run", "--on=" + run.on, "--body=" + run.body,
                                      "--stats=" + stats};
  for (const run::JobOption& option : run::job_options()) {
    // Those that differ from run to run are not of the choice, and a real run has none of a
    // model's.
    if (option.name() == "on" || option.name() == "lci" || option.name() == "faster") continue;
    if ((option.places & run::place_of(run.on)) == 0) continue;
    for (const std::string& text : run::option_texts(option, run.choice.world)) {
      command.push_back(fmt::format("--{}={}", option.name(), text));
    }
  }
  if (!run.lci.empty()) command.push_back("--lci=" + run.lci);
  if (!run.faster.empty()) command.push_back("--faster=" + run.faster);
  if (!run.explain.empty()) command.push_back("--explain=" + run.explain);
  if (!run.choice.background.empty()) command.push_back("--background=" + run.choice.background);
  if (!run.choice.handler.empty()) command.push_back("--handler=" + run.choice.handler);
  if (!run.working_directory.empty()) command.push_back("--wdir=" + run.working_directory);
  for (const std::string& variable : run.environment) {
    command.push_back("-x");
    command.push_back(variable);
  }
  command.insert(command.end(), run.program.begin(), run.program.end());
  return command;
}

}  // namespace fairlead::tools
