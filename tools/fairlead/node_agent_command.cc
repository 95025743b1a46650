// fairlead node-agent: what `fairlead run --hosts` starts on each host.
#include "fairlead/run/hosts/node_agent.h"
#include "tools/fairlead/commands.h"

namespace fairlead::tools {

void add_node_agent(CLI::App& app, int& exit_code) {
  auto* agent = app.add_subcommand(run::kAgentCommand, "");
  agent->group("");  // hidden
  agent->callback([&exit_code] { exit_code = run::run_node_agent(); });
}

}  // namespace fairlead::tools
