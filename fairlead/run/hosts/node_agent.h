// What runs on each host of a job of several: `fairlead node-agent`, which the command starts by a
// remote shell. It runs the node's ranks as the command runs those of one machine (job.h), and
// speaks with the command over its standard input and output (node_messages.h). When the command or
// the way to it is gone, so are the ranks.
#pragma once

namespace fairlead::run {

// The subcommand's name.
inline constexpr const char kAgentCommand[] = "node-agent";
// A command that cannot be reached any more closes the way as a rule. Where it does not, so long a
// silence ends the ranks; a command that was stopped by SIGTSTP may be silent.
constexpr int kCommandSilenceMs = 60'000;
// An agent says that it is alive so often, and the command too.
constexpr int kBeatMs = 1'000;

// Runs one job to its end; the process's exit code. Takes descriptors 0 to 2 for the ranks.
int run_node_agent();

}  // namespace fairlead::run
